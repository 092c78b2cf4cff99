/** The turn of files about models: see drawn_tier.ts. */
import { takeTurn } from "../drawn_tier.ts";

takeTurn("models");
