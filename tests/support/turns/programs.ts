/** The turn of files about programs: see drawn_tier.ts. */
import { takeTurn } from "../drawn_tier.ts";

takeTurn("programs");
