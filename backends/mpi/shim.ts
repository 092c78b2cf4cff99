/**
 * The C++ source between dyn and MPI: groups, and calls that run in the background.
 *
 * Every collective is preceded by one of 16 bytes, the fingerprint of the rank's call, which is awaited without
 * blocking: if all are equal, every rank has arrived, and the data follow; if they differ, the ranks exchange
 * descriptions of their calls and nothing is written; on a timeout, ranks report where they are. Invariants: data of a
 * group's collectives start in the order of the calls, which is the same on all ranks once the fingerprints agree; MPI
 * is called by one thread at a time. A call that all ranks await immediately uses MPI's blocking form, which is faster;
 * whether they all do is part of the fingerprint, since the two forms do not match each other.
 */
import { snakeCase } from "../../lib/base/names.ts";
import { CALL_KINDS } from "../../lib/distributed/transport.ts";
import { REDUCTIONS } from "./reductions.ts";

/** Maximum length of the description of a call, in bytes including the terminating zero. */
export const TEXT_BYTES = 256;

/** The whole translation unit. */
export const SHIM = String.raw`
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#define API extern "C" __attribute__((visibility("default")))
${REDUCTIONS}
enum { TEXT = ${TEXT_BYTES} };
enum { ${CALL_KINDS.map((kind) => snakeCase(kind).toUpperCase()).join(", ")} };
enum { OK, MISMATCH, TIMEOUT, FAILED };
enum { QUERY = 1, ANSWER = 2 };
/** Maximum time at the end for calls that were never awaited, in milliseconds. */
enum { DRAINING = 1000 };

struct Group;

/** A request from JavaScript, with the layout of transport.ts. */
struct Call {
  double kind, dtype, op, peer, tag, count, send, receive, blocking;
};

/** The first message of a send or a receive. */
struct Greeting { int64_t print; char text[TEXT]; };

struct Job {
  Call call;
  Group* group;
  Job* next;
  enum { HEADER, TEXTS, DATA, DONE } state;
  int outcome, error, peer, replied;
  double began, ended;
  /** The fingerprint, its complement, and whether the rank waits immediately. */
  int64_t mine[3], agreed[3];
  Greeting greeting, other;
  /** Descriptions of all ranks, if they differ. */
  char* texts;
  MPI_Request requests[2];
};

struct Group {
  /** Communicators for fingerprints, for data, and for reports of errors. */
  MPI_Comm control, data, words;
  int rank, size;
  Job* first;
  Job* last;
  /** Description of the call that the program waits for, for reports to other ranks. */
  char at[TEXT];
  Group* next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static Group* groups;
static pthread_t helper;
static int helped, waiting, leaving;

static double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

static Group* groupOf(MPI_Comm from) {
  Group* g = (Group*)calloc(1, sizeof(Group));
  g->control = from;
  MPI_Comm_dup(from, &g->data);
  MPI_Comm_dup(from, &g->words);
  MPI_Comm all[] = { g->control, g->data, g->words };
  for (MPI_Comm each : all) MPI_Comm_set_errhandler(each, MPI_ERRORS_RETURN);
  MPI_Comm_rank(from, &g->rank);
  MPI_Comm_size(from, &g->size);
  g->next = groups;
  groups = g;
  return g;
}

static bool isDirect(const Job* j) { return j->call.kind >= SEND; }

static void finish(Job* j, int outcome, int error) {
  j->state = Job::DONE;
  j->outcome = outcome;
  j->error = error;
  j->ended = now();
}

static void* at(double address) { return (void*)(uintptr_t)address; }

/** Starts the transfer of a collective's data, or completes it. */
static int transfer(Job* j) {
  Group* g = j->group;
  const Call& c = j->call;
  void* s = at(c.send);
  void* r = at(c.receive);
  int n = (int)c.count, root = (int)c.peer, dtype = (int)c.dtype;
  bool blocks = c.blocking != 0, isRoot = g->rank == root;
  MPI_Datatype t = types[dtype];
  MPI_Op op = ops[dtype][(int)c.op];
  MPI_Comm d = g->data;
  MPI_Request* q = j->requests;
#define RUN(now, later, ...) (blocks ? MPI_##now(__VA_ARGS__, d) : MPI_##later(__VA_ARGS__, d, q))
  switch ((int)c.kind) {
    case BARRIER: return blocks ? MPI_Barrier(d) : MPI_Ibarrier(d, q);
    case ALL_REDUCE: return RUN(Allreduce, Iallreduce, MPI_IN_PLACE, r, n, t, op);
    case BROADCAST: return RUN(Bcast, Ibcast, r, n, t, root);
    case REDUCE: return RUN(Reduce, Ireduce, isRoot ? MPI_IN_PLACE : r, isRoot ? r : nullptr, n, t, op, root);
    case ALL_GATHER: return RUN(Allgather, Iallgather, s, n, t, r, n, t);
    case REDUCE_SCATTER: return RUN(Reduce_scatter_block, Ireduce_scatter_block, s, r, n, t, op);
    case ALL_TO_ALL: return RUN(Alltoall, Ialltoall, s, n, t, r, n, t);
    case SCATTER: return RUN(Scatter, Iscatter, s, n, t, r, n, t, root);
    case GATHER: return RUN(Gather, Igather, s, n, t, r, n, t, root);
  }
  return MPI_ERR_ARG;
}

/** Postprocesses elements after their arrival. */
static void complete(Job* j) {
  const Call& c = j->call;
  Group* g = j->group;
  bool mine = c.kind == ALL_REDUCE || c.kind == REDUCE_SCATTER || (c.kind == REDUCE && g->rank == (int)c.peer);
  if (c.op == AVG && mine) average(at(c.receive), (int)c.dtype, (int64_t)c.count, g->size);
  finish(j, OK, 0);
}

static void begin(Job* j) {
  if (j->call.kind == AGREE) return finish(j, OK, 0);
  j->state = Job::DATA;
  int error = transfer(j);
  if (error != MPI_SUCCESS) finish(j, FAILED, error);
  else if (j->call.blocking != 0) complete(j);
}

/** Whether all requests of a job are done. */
static bool arrived(Job* j) {
  int done = 0, error = MPI_Testall(2, j->requests, &done, MPI_STATUSES_IGNORE);
  if (error == MPI_SUCCESS) return done != 0;
  finish(j, FAILED, error);
  return false;
}

static void advanceCollective(Job* j) {
  Group* g = j->group;
  if (j->state == Job::HEADER && arrived(j)) {
    if (j->agreed[0] == ~j->agreed[1]) {
      j->call.blocking = (double)j->agreed[2];
      return begin(j);
    }
    j->texts = (char*)malloc((size_t)TEXT * g->size);
    j->state = Job::TEXTS;
    int error = MPI_Iallgather(j->greeting.text, TEXT, MPI_BYTE, j->texts, TEXT, MPI_BYTE, g->words, j->requests);
    if (error != MPI_SUCCESS) finish(j, FAILED, error);
  }
  if (j->state == Job::TEXTS && arrived(j)) finish(j, MISMATCH, 0);
  if (j->state == Job::DATA && arrived(j)) complete(j);
}

/** The tag of a greeting: even for senders, odd for receivers. */
static int greetingTag(const Job* j, bool ofSender) { return 2 * (int)j->call.tag + (ofSender ? 0 : 1); }

static void startDirect(Job* j) {
  Group* g = j->group;
  bool sends = j->call.kind == SEND;
  int peer = j->call.peer < 0 ? MPI_ANY_SOURCE : (int)j->call.peer;
  MPI_Irecv(&j->other, sizeof(Greeting), MPI_BYTE, peer, greetingTag(j, !sends), g->control, &j->requests[0]);
  if (!sends) return;
  MPI_Isend(&j->greeting, sizeof(Greeting), MPI_BYTE, peer, greetingTag(j, true), g->control, &j->requests[1]);
}

/** Whether an earlier message between the same ranks with the same tag is pending. */
static bool isBehind(const Job* j) {
  for (Job* k = j->group->first; k != j; k = k->next) {
    bool same = k->call.kind == j->call.kind && k->call.tag == j->call.tag &&
      (k->call.peer == j->call.peer || k->call.peer < 0 || j->call.peer < 0);
    if (same && k->state == Job::HEADER) return true;
  }
  return false;
}

static void advanceDirect(Job* j) {
  Group* g = j->group;
  bool sends = j->call.kind == SEND;
  if (j->state == Job::HEADER && !isBehind(j)) {
    if (!sends && !j->replied) {
      int done = 0;
      MPI_Status status;
      int error = MPI_Test(&j->requests[0], &done, &status);
      if (error != MPI_SUCCESS) return finish(j, FAILED, error);
      if (!done) return;
      j->peer = status.MPI_SOURCE;
      j->replied = 1;
      int tag = greetingTag(j, false);
      MPI_Isend(&j->greeting, sizeof(Greeting), MPI_BYTE, j->peer, tag, g->control, &j->requests[1]);
    }
    if (!arrived(j)) return;
    if (j->other.print != j->greeting.print) return finish(j, MISMATCH, 0);
    j->state = Job::DATA;
    int n = (int)j->call.count, tag = (int)j->call.tag, error;
    MPI_Datatype t = types[(int)j->call.dtype];
    if (sends) error = MPI_Isend(at(j->call.send), n, t, j->peer, tag, g->data, j->requests);
    else error = MPI_Irecv(at(j->call.receive), n, t, j->peer, tag, g->data, j->requests);
    if (error != MPI_SUCCESS) finish(j, FAILED, error);
  }
  if (j->state == Job::DATA && arrived(j)) finish(j, OK, 0);
}

/** Advances all running calls once. */
static void progress() {
  for (Group* g = groups; g; g = g->next) {
    bool mayBegin = true;
    for (Job* j = g->first; j; j = j->next) {
      if (isDirect(j)) {
        if (j->state != Job::DONE) advanceDirect(j);
        continue;
      }
      if (j->state == Job::DATA || (mayBegin && j->state != Job::DONE)) advanceCollective(j);
      if (j->state == Job::HEADER || j->state == Job::TEXTS) mayBegin = false;
    }
  }
}

/** Reports this rank's position to ranks that request it. */
static void answer() {
  for (Group* g = groups; g; g = g->next) {
    for (int there = 1; there;) {
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, QUERY, g->words, &there, &status);
      if (!there) break;
      MPI_Recv(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, QUERY, g->words, MPI_STATUS_IGNORE);
      MPI_Send(g->at, TEXT, MPI_BYTE, status.MPI_SOURCE, ANSWER, g->words);
    }
  }
}

static bool isBusy() {
  for (Group* g = groups; g; g = g->next) {
    for (Job* j = g->first; j; j = j->next) if (j->state != Job::DONE) return true;
  }
  return false;
}

/** The thread that advances calls while the program computes. */
static void* help(void*) {
  pthread_mutex_lock(&lock);
  while (!leaving) {
    // A program that waits advances calls itself
    if (waiting || !isBusy()) {
      pthread_cond_wait(&work, &lock);
      continue;
    }
    progress();
    pthread_mutex_unlock(&lock);
    usleep(20);
    pthread_mutex_lock(&lock);
  }
  pthread_mutex_unlock(&lock);
  return nullptr;
}

/** The beginning of the report of a rank that its launcher ends. */
static char ending[TEXT];

/**
 * Reports where the rank was, and lets the signal take effect. Calls only functions that are allowed in signal
 * handlers.
 */
static void ended(int number) {
  const char* where = "";
  for (Group* g = groups; g; g = g->next) if (g->at[0]) where = g->at;
  const char* texts[] = { ending, where[0] ? where : "no call of a group", "; another rank has failed, perhaps\n" };
  for (const char* text : texts) if (write(2, text, strlen(text)) < 0) break;
  signal(number, SIG_DFL);
  raise(number);
}

/** Installs the report of a rank that is ended, unless the program handles the signal itself. */
static void sayEnd(int rank) {
  struct sigaction action;
  snprintf(ending, TEXT, "error: Rank %d is ended from outside, in ", rank);
  if (sigaction(SIGTERM, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) return;
  memset(&action, 0, sizeof action);
  action.sa_handler = ended;
  sigaction(SIGTERM, &action, nullptr);
}

/** Initialises MPI; returns the handle of the world's group, null if MPI fails. */
API void* dyn_mpi_init() {
  static int prepared;
  int there = 0, threads = 0;
  // The helper thread may be busy with calls of an earlier group
  pthread_mutex_lock(&lock);
  MPI_Initialized(&there);
  bool fits = there || MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &threads) == MPI_SUCCESS;
  if (fits) MPI_Query_thread(&threads);
  fits = fits && threads >= MPI_THREAD_SERIALIZED;
  Group* g = nullptr;
  if (fits) {
    if (!prepared) prepareReductions();
    prepared = 1;
    MPI_Comm world;
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    g = groupOf(world);
    sayEnd(g->rank);
  }
  pthread_mutex_unlock(&lock);
  return g;
}

/** Returns rank and size. */
API void dyn_mpi_place(void* group, int32_t* into) {
  into[0] = ((Group*)group)->rank;
  into[1] = ((Group*)group)->size;
}

/** Creates a group of some ranks of another group, all of which call this; null for ranks outside the new group. */
API void* dyn_mpi_group(void* parent, const int32_t* ranks, int32_t count) {
  Group* p = (Group*)parent;
  pthread_mutex_lock(&lock);
  MPI_Group all, some;
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_group(p->data, &all);
  MPI_Group_incl(all, count, ranks, &some);
  MPI_Comm_create(p->data, some, &made);
  MPI_Group_free(&some);
  MPI_Group_free(&all);
  Group* g = made == MPI_COMM_NULL ? nullptr : groupOf(made);
  pthread_mutex_unlock(&lock);
  return g;
}

/** Starts a call; print and text identify it; attended: whether the helper thread advances it. */
API void* dyn_mpi_start(void* group, const Call* call, int64_t print, const char* text, int32_t attended) {
  Group* g = (Group*)group;
  Job* j = (Job*)calloc(1, sizeof(Job));
  j->call = *call;
  j->group = g;
  j->peer = (int)call->peer;
  j->began = now();
  j->requests[0] = j->requests[1] = MPI_REQUEST_NULL;
  j->greeting.print = print;
  strncpy(j->greeting.text, text, TEXT - 1);
  pthread_mutex_lock(&lock);
  if (g->last) g->last->next = j; else g->first = j;
  g->last = j;
  if (isDirect(j)) startDirect(j);
  else {
    j->mine[0] = print;
    j->mine[1] = ~print;
    j->mine[2] = call->blocking != 0;
    int error = MPI_Iallreduce(j->mine, j->agreed, 3, MPI_INT64_T, MPI_MIN, g->control, j->requests);
    if (error != MPI_SUCCESS) finish(j, FAILED, error);
  }
  if (attended) {
    if (!helped) helped = pthread_create(&helper, nullptr, help, nullptr) == 0;
    pthread_cond_signal(&work);
  }
  pthread_mutex_unlock(&lock);
  return j;
}

/** Advances running calls; returns the outcome of the call, or −1 while it is running. */
API int32_t dyn_mpi_poll(void* job) {
  pthread_mutex_lock(&lock);
  if (!leaving) progress();
  int32_t found = ((Job*)job)->state == Job::DONE ? ((Job*)job)->outcome : -1;
  pthread_mutex_unlock(&lock);
  return found;
}

/** Waits for a call, at most this many milliseconds; returns its outcome. A patient wait yields the processor. */
API int32_t dyn_mpi_wait(void* job, double limit, int32_t patient) {
  Job* j = (Job*)job;
  double end = 0;
  pthread_mutex_lock(&lock);
  memcpy(j->group->at, j->greeting.text, TEXT);
  waiting++;
  for (int64_t turn = 0; j->state != Job::DONE && !leaving; turn++) {
    progress();
    if (j->state == Job::DONE) break;
    if ((turn & 255) == 255) {
      answer();
      if (end == 0) end = now() + limit;
      if (now() > end) break;
    }
    pthread_mutex_unlock(&lock);
    if (patient || turn > 4096) usleep(50);
    else if (turn > 64) sched_yield();
    pthread_mutex_lock(&lock);
  }
  waiting--;
  if (!waiting) pthread_cond_broadcast(&work);
  int32_t found = j->state == Job::DONE ? j->outcome : TIMEOUT;
  if (j->state == Job::DONE) j->group->at[0] = 0;
  pthread_mutex_unlock(&lock);
  return found;
}

/** Copies the descriptions of a call that did not match, one for each rank; for a message, that of the other side. */
API void dyn_mpi_texts(void* job, char* into) {
  Job* j = (Job*)job;
  if (j->texts) memcpy(into, j->texts, (size_t)TEXT * j->group->size);
  else memcpy(into, j->other.text, TEXT);
}

/** Copies MPI's message about a failed call. */
API void dyn_mpi_error(void* job, char* into) {
  char text[MPI_MAX_ERROR_STRING] = { 0 };
  int length = 0;
  pthread_mutex_lock(&lock);
  MPI_Error_string(((Job*)job)->error, text, &length);
  pthread_mutex_unlock(&lock);
  snprintf(into, TEXT, "%s", text);
}

/** Returns the root, or the other side of a message. */
API int32_t dyn_mpi_peer(void* job) { return ((Job*)job)->peer; }

/** Returns the duration of a completed call in milliseconds. */
API double dyn_mpi_took(void* job) { return ((Job*)job)->ended - ((Job*)job)->began; }

/** Frees a completed call. */
API void dyn_mpi_free(void* job) {
  Job* j = (Job*)job;
  Group* g = j->group;
  pthread_mutex_lock(&lock);
  Job* before = nullptr;
  for (Job* k = g->first; k && k != j; k = k->next) before = k;
  if (before) before->next = j->next; else g->first = j->next;
  if (g->last == j) g->last = before;
  pthread_mutex_unlock(&lock);
  free(j->texts);
  free(j);
}

/** Asks all ranks where they are, for at most this many milliseconds; empty for ranks that do not answer. */
API void dyn_mpi_where(void* group, char* into, double limit) {
  Group* g = (Group*)group;
  pthread_mutex_lock(&lock);
  memset(into, 0, (size_t)TEXT * g->size);
  memcpy(into + (size_t)TEXT * g->rank, g->at, TEXT);
  for (int rank = 0; rank < g->size; rank++) {
    MPI_Request sent;
    if (rank == g->rank || leaving) continue;
    MPI_Isend(nullptr, 0, MPI_BYTE, rank, QUERY, g->words, &sent);
    MPI_Request_free(&sent);
  }
  double end = now() + limit;
  for (int heard = 1; heard < g->size && now() < end && !leaving;) {
    int there = 0;
    MPI_Status status;
    answer();
    MPI_Iprobe(MPI_ANY_SOURCE, ANSWER, g->words, &there, &status);
    if (there) {
      heard++;
      int from = status.MPI_SOURCE;
      MPI_Recv(into + (size_t)TEXT * from, TEXT, MPI_BYTE, from, ANSWER, g->words, MPI_STATUS_IGNORE);
    } else usleep(100);
  }
  pthread_mutex_unlock(&lock);
}

/**
 * Finalises MPI on all ranks. Nothing here calls MPI afterwards. Calls that the program has not awaited are completed
 * if the other side has arrived, because their memory is about to be freed.
 */
API void dyn_mpi_leave(int32_t orderly) {
  pthread_mutex_lock(&lock);
  leaving = 1;
  pthread_cond_broadcast(&work);
  while (waiting) pthread_cond_wait(&work, &lock);
  pthread_mutex_unlock(&lock);
  if (helped) pthread_join(helper, nullptr);
  pthread_mutex_lock(&lock);
  int over = 0;
  MPI_Finalized(&over);
  if (orderly && !over) {
    for (double end = now() + DRAINING; isBusy() && now() < end; usleep(20)) progress();
    for (Group* g = groups; g; g = g->next) {
      MPI_Comm all[] = { g->control, g->data, g->words };
      for (MPI_Comm each : all) MPI_Comm_free(&each);
    }
    releaseReductions();
    MPI_Finalize();
  }
  pthread_mutex_unlock(&lock);
}
`;
