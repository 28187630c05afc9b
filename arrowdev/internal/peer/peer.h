//go:build cgo && unix && !(386 || arm || mips || mipsle)

// The functions that Go calls: the producer, the consumer, and the counts of both.
#ifndef PEER_PEER_H
#define PEER_PEER_H

#include "arrow_standard.h"
#include "basics.h"

// The counts. Live structs are those made and not yet released; mistakes are the other
// side's violations of the standard, found in callbacks.
struct peer_counts {
  int64_t schemas, arrays, streams, producers, tasks, handlers;
  int64_t double_releases, mistakes;
};

struct peer_counts peer_counts(void);
// peer_mistake records a mistake of the other side.
void peer_mistake(const char *format, ...) __attribute__((format(printf, 1, 2)));
// peer_mistakes returns the recorded mistakes, one a line, and clears them. The caller
// frees the text.
char *peer_mistakes(void);
// peer_sweep frees the records of released structs, which were kept to recognise a
// second release. Call it only while no struct is alive.
void peer_sweep(void);

enum peer_nulls { PEER_SOME_NULLS, PEER_NO_NULLS, PEER_ALL_NULLS };

// Deviations of known producers from the standard, or rare choices within it.
enum peer_quirk {
  PEER_RESERVED_SET = 1,      // reserved is not zero
  PEER_NAMES_NULL = 2,        // names left out as NULL
  PEER_EMPTY_IS_NULL = 4,     // buffers of zero bytes are NULL
  PEER_NO_OFFSETS = 8,        // no offset at all in arrays without elements
  PEER_UNKNOWN_NULLS = 16,    // null_count -1, with NULL for validity if all are valid
  PEER_VALIDITY = 32,         // a validity bitmap even if all are valid
  PEER_GARBAGE = 64,          // random bytes in contents that the standard leaves undefined
  PEER_ODD = 128,             // buffers aligned only to their elements
  PEER_PADDED = 256,          // buffers padded with zeros to 64 bytes
  PEER_CPU_ZERO = 512,        // device_id 0 instead of -1
  PEER_METADATA = 1024,       // metadata on every schema
};

struct peer_options {
  uint64_t seed;
  // Rows of the array, and rows before the first and after the last in its buffers; for
  // children the maximum of these.
  int64_t length, ahead, behind, children_ahead, children_behind;
  int nulls;
  unsigned quirks;
  int32_t device_type;
  int64_t device_id;
  void *sync_event;
};

// peer_produce makes the type, written as "format(name=type;name!=type)<dictionary
// type>", and an array of it. Either struct may be NULL. text receives the contents of
// the array, one row a line. It returns 0, or -1 if the type is not valid.
int peer_produce(const char *type, const struct peer_options *, struct ArrowSchema *, struct ArrowDeviceArray *,
                 struct peer_text *);

// A buffer of an array's tree; its address may be replaced.
struct peer_slot {
  const void **place;
  const void *bytes;
  int64_t size;
  // The lengths of variadic buffers, which producers keep in host memory.
  int32_t on_host;
};
// peer_slots returns the number of buffers of the tree and writes up to capacity of
// them.
int64_t peer_slots(struct ArrowArray *, struct peer_slot *, int64_t capacity);

// How the consumer reads.
struct peer_view {
  // Copies memory that C cannot reach; 0: C can reach all memory.
  uintptr_t reader;
  int32_t device_type;
  int64_t device_id;
  // Whether the bytes up to the next multiple of 64 are read too.
  bool padding;
};

struct peer_seen {
  // The values one row a line, the type, violations of the standard, and deviations
  // from its recommendations, each a line.
  struct peer_text values, type, problems, advice;
};

void peer_look(struct ArrowDeviceArray *, struct ArrowSchema *, const struct peer_view *, struct peer_seen *);
// peer_look_plain is for a plain ArrowArray, or only the schema if it is NULL.
void peer_look_plain(struct ArrowArray *, struct ArrowSchema *, const struct peer_view *, struct peer_seen *);
void peer_seen_free(struct peer_seen *);

void peer_release_array(struct ArrowArray *);
void peer_release_schema(struct ArrowSchema *);

enum peer_order { PEER_BASE_FIRST, PEER_BASE_LAST };
// peer_dismantle moves random children of a struct array out, and releases the base
// before or after them, and each moved child, in a random order. Children of a base
// released first are read after its release, so the values of a moved child must
// survive it. Values get one line for each moved child.
void peer_dismantle(struct ArrowArray *, struct ArrowSchema *, enum peer_order, uint64_t seed, const struct peer_view *,
                    struct peer_seen *);

// peer_on_thread runs a function on a new thread and waits for it.
int peer_on_thread(void (*run)(void *), void *argument);

// Streams. The producer returns batches made in advance, in order; after fail_after of
// them (-1: never) it returns the error code and message.
struct peer_source {
  const char *type;
  unsigned quirks;
  int32_t device_type;
  struct ArrowDeviceArray *batches;
  int64_t count, fail_after;
  int code, schema_code;
  const char *message;
};

// The stream takes the batches over.
void peer_stream(const struct peer_source *, struct ArrowDeviceArrayStream *);
void peer_stream_plain(const struct peer_source *, struct ArrowArrayStream *);
void peer_release_stream(struct ArrowDeviceArrayStream *);


struct peer_drain {
  // The maximum number of batches to request; -1: to the end. further is the number of
  // further calls after the end.
  int64_t most, further;
  // The number of calls of get_schema; if keep is true, batches are released after the
  // stream.
  int schemas;
  bool keep;
};

struct peer_drained {
  struct peer_seen seen;
  int64_t batches;
  int code;
  char *message;
  bool ended;
};

void peer_drain(struct ArrowDeviceArrayStream *, const struct peer_drain *, const struct peer_view *,
                struct peer_drained *);
void peer_drain_plain(struct ArrowArrayStream *, const struct peer_drain *, const struct peer_view *,
                      struct peer_drained *);
void peer_drained_free(struct peer_drained *);

// The asynchronous producer, on a separate thread.
struct peer_sender;
struct peer_send {
  // The end of the stream waits for a request too; metadata with each task;
  // extract_data fails at this task (-1: none).
  bool end_requested, metadata;
  int64_t fail_extract;
  // After a cancel requested tasks are still sent, as the standard allows.
  bool finish_requested;
};
struct peer_sender *peer_send(struct ArrowAsyncDeviceStreamHandler *, const struct peer_source *,
                              const struct peer_send *);
struct peer_sent {
  int64_t tasks, requested, cancels;
  int schema_code, task_code;
  bool errored, released;
};
// peer_send_wait waits for the thread, and frees the sender.
void peer_send_wait(struct peer_sender *, struct peer_sent *);

// The asynchronous consumer.
enum peer_extract { PEER_AT_ONCE, PEER_LATER, PEER_DISCARD, PEER_SOME };
struct peer_receive {
  // The tasks requested in on_schema, and after each task; request_later makes the
  // later requests on a separate thread.
  int64_t first, next;
  bool request_later;
  enum peer_extract extract;
  uint64_t seed;
  // After this number of tasks (-1: never) the consumer cancels, on a separate thread
  // if cancel_later is true, or returns an error code from on_next_task.
  int64_t cancel_after, refuse_after;
  bool cancel_later;
  int schema_code, task_code;
};
struct peer_receiver;
// The handler is C memory that lives until peer_received_free.
struct peer_receiver *peer_receiver(const struct peer_receive *, const struct peer_view *);
struct ArrowAsyncDeviceStreamHandler *peer_handler(struct peer_receiver *);
struct peer_received {
  struct peer_seen seen;
  int64_t tasks, extracted, extract_errors, errors;
  int code;
  char *message;
  bool schema, ended, released;
};
// peer_receive_wait waits until the handler was released and every task was extracted,
// and returns the received data; peer_receive_free frees everything.
struct peer_received *peer_receive_wait(struct peer_receiver *);
void peer_receive_free(struct peer_receiver *);

#endif
