/** The turn of files about ops: see drawn_tier.ts. */
import { takeTurn } from "../drawn_tier.ts";

takeTurn("ops");
