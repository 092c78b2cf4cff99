/** Proxies are traced: their traps run while tracing, in the language's order. */
import { brokenProxies, proxies } from "./programs/proxies.ts";
import { register, registerUnbroken } from "./support/programs.ts";

const FORCED = [3, 9, 16, 24];

register(proxies, ["eager"], FORCED);
register(brokenProxies, ["eager"], FORCED);
registerUnbroken(proxies);
