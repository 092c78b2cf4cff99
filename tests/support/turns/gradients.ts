/** The turn of files about gradients: see drawn_tier.ts. */
import { takeTurn } from "../drawn_tier.ts";

takeTurn("gradients");
