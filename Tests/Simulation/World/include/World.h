// A simulated machine with its disk, clocks and network, and a server at the other end: what the uploader is run in.
// Everything follows from a seed.
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// What is drawn from the seed and given to the uploader.
enum { WORLD_GIGHIVE = 0, WORLD_MULTIPART = 1, WORLD_TUS = 2 };
enum { WORLD_PROTOCOL_AUTOMATIC = 0, WORLD_PROTOCOL_MULTIPART = 1, WORLD_PROTOCOL_TUS = 2 };

// The commands of a start: `send`, `resume --all`, or that and then `send` of what is left.
enum { WORLD_SENDS = 0, WORLD_RESUMES = 1, WORLD_RESUMES_AND_SENDS = 2 };

// What becomes of a recording after its delivery.
enum { WORLD_KEEPS = 0, WORLD_DELETES = 1, WORLD_MOVES = 2 };

typedef struct {
    int32_t destination;
    const char *url;
    int32_t protocol;
    int64_t tus_threshold;
    // 0: not given.
    int64_t chunk_length;
    int32_t overrides_method;
    int32_t defers_length;
    int32_t computes_digest;
    int32_t file_count;
    int32_t jobs;
    // One call of the uploader after the other, rather than one for all.
    int32_t one_by_one;
    int64_t retries;
    /// How long an upload is retried without progress; 0 for a number of retries.
    int64_t retry_milliseconds;
    int64_t retry_maximum_delay_milliseconds;
    int64_t connect_milliseconds;
    int64_t stall_milliseconds;
    int64_t response_milliseconds;
    // 0: none.
    int64_t total_milliseconds;
    int64_t rate_limit;
    // NULL: none.
    const char *proxy;
    // Delete from the server what a start has delivered, at its end.
    int32_t deletes;
    // WORLD_SENDS …
    int32_t resumes;
    // WORLD_KEEPS …; for WORLD_MOVES, the directory that they are moved into.
    int32_t removal;
    const char *target;
    int32_t trusts_server;
    int32_t trusts_settle;
    // `clean` follows.
    int32_t cleans;
    int32_t refreshes;
    const char *state_directory;
    const char *user;
    const char *password;
} world_plan;

// Creates the world of a seed, replacing the previous one. With a trace, events are printed.
void world_create(uint64_t seed, int32_t traces);
const world_plan *world_get_plan(void);
const char *world_file_path(int32_t index);
// Nobody sends it again.
int32_t world_file_is_delivered(int32_t index);

// Whether a watcher sends the recordings of a seed.
int32_t world_has_watcher(uint64_t seed);
// Whether that is so in this world. If so, it and its workers run until everything has been judged: `program` is what a process
// runs, with the arguments that it has, and returns its exit code.
int32_t world_is_watched(void);
void world_watch(int32_t (*program)(void));

// Begins the next start of the program. 0 when the scenario is over. What the last start has left open must be closed.
int32_t world_begin_start(void);
// The program is about to be told to end as SIGINT tells it: the descriptor is raised at some moment.
void world_may_cancel(int32_t descriptor);

// Is called when another process is to send the same files, while this one waits.
void world_set_second_sender(void (*send)(void));
// What holds now.
const char *world_password(void);
// The file that a path is of, or -1.
int32_t world_file_at(const char *path);
// The user has cancelled an upload of another file, with the command `cancel`.
int32_t world_must_cancel(int32_t index);

// How an upload of a start ended.
enum {
    WORLD_DELIVERED = 0,
    // Another start may do.
    WORLD_FAILED = 1,
    WORLD_CANCELLED = 2,
    // The file is not what the record says.
    WORLD_CHANGED = 3,
    // The file cannot be read, or changed while it was read.
    WORLD_FILE = 4,
    // The state directory.
    WORLD_STATE = 5,
    WORLD_CONFLICT = 6,
    // Memory, threads, descriptors.
    WORLD_RESOURCES = 7,
    // The server has, or claims, something else than the file.
    WORLD_INTEGRITY = 8,
    // What only a server or a client that breaks the protocol's rules can cause.
    WORLD_PROTOCOL_BROKEN = 9,
    // A response that only something other than the server can have given.
    WORLD_NOT_THE_SERVER = 10,
    // The upload to resume is already delivered.
    WORLD_DELIVERED_BEFORE = 11,
    // The server may have stored all of it; only the user can say that it is to be sent again.
    WORLD_MAY_BE_STORED = 12,
};
// The upload has a record.
void world_upload_recorded(int32_t index);
void world_upload_retries(int32_t index, const char *message);
void world_upload_progress(int32_t index, int64_t delivered, int64_t total);
// A command begins with this file. The one before it in the same start may have ended without a delivery.
void world_upload_again(int32_t index);
void world_upload_ended(int32_t index, int32_t outcome, const char *message);
// A delivered recording was not removed from this machine.
void world_recording_kept(int32_t index, const char *reason);
int32_t world_file_is_there(int32_t index);
// Whether GigHive is asked before that.
int32_t world_asks(void);
// Everything that the program had is let go of.
void world_end_start(void);
// The server has said that it has the upload of this address no more, as the program sees it.
void world_upload_terminated(const char *location);
// The server has said that it has deleted the recording, as the program sees it.
void world_recording_deleted(int64_t asset);
// Whether the program's process is gone.
int32_t world_is_dead(void);
// What the world has to say to a trace.
void world_note(const char *line);
int32_t world_traces(void);
// Whether requests and responses are described: in a replay, and in some seeds, because it takes a sixth of the time.
int32_t world_has_diagnostics(void);

// The first invariant that was violated, or NULL.
const char *world_violation(void);
// Two runs of one seed have the same.
uint64_t world_hash(void);

// Breaks something on purpose, to show that it is noticed. 0 if there is no such canary.
int32_t world_set_canary(const char *name);
const char *world_canaries(void);

// Runs seeds in `jobs` processes, up to so many failures; returns how many failed. `program` is what a replay is called
// with; without one, only what was noticed is printed. With `is_for_watchers`, only those with a watcher.
int64_t world_run_seeds(
    uint64_t first, uint64_t count, int32_t jobs, int32_t most_failures, const char *program, int32_t is_for_watchers,
    void (*run)(uint64_t seed));

#ifdef __cplusplus
}
#endif
