/** Registers MPI, whose code loads when processes are connected. Imported for its effect. */
import { onDemand } from "../../lib/base/on_demand.ts";
import { registerTransport } from "../../lib/distributed/transport.ts";

/** Environment variables that launchers set for their processes: those of Open MPI and MPICH, and of Slurm for both. */
const LAUNCHED = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK", "MPI_LOCALNRANKS"];

const code = onDemand(import.meta.url, "./transport.ts", () => import("./transport.ts"));

registerTransport({
  name: "mpi",
  isLaunched: () => LAUNCHED.some((name) => Deno.env.has(name)),
  absence: () => code().mpiAbsence(),
  connect: (timeout) => code().connectMpi(timeout),
});
