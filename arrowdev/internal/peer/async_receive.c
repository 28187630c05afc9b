//go:build cgo && unix && !(386 || arm || mips || mipsle)

// The asynchronous consumer. A separate thread makes the calls that must not come from
// callbacks.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "make.h"

enum { MOST_TASKS = 4096 };

struct waiting {
  struct ArrowAsyncTask task;
  int64_t number;
};

struct peer_receiver {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  pthread_t worker;
  struct ArrowAsyncDeviceStreamHandler *handler;
  struct peer_receive options;
  struct peer_view view;
  struct peer_received received;
  struct ArrowSchema schema;
  uint64_t random;
  int64_t requested, to_request;
  bool to_cancel, in_callback, in_call, refused;
  struct waiting waiting[MOST_TASKS];
  int64_t n_waiting;
  struct peer_text values[MOST_TASKS];
};

static void enter(struct peer_receiver *r, const char *callback) {
  pthread_mutex_lock(&r->lock);
  if (r->in_callback) peer_mistake("%s while another callback runs", callback);
  if (r->received.released) peer_mistake("%s after release", callback);
  if (r->received.errors > 0) peer_mistake("%s after on_error", callback);
  if (r->refused) peer_mistake("%s after a callback had returned an error", callback);
  r->in_callback = true;
  pthread_mutex_unlock(&r->lock);
}

static void leave(struct peer_receiver *r) {
  pthread_mutex_lock(&r->lock);
  r->in_callback = false;
  pthread_cond_broadcast(&r->changed);
  pthread_mutex_unlock(&r->lock);
}

// request requests more tasks, in this call or on the worker.
static void request(struct peer_receiver *r, int64_t n) {
  if (n == 0) return;
  pthread_mutex_lock(&r->lock);
  if (n > 0) r->requested += n;
  if (r->options.request_later) r->to_request += n;
  pthread_cond_broadcast(&r->changed);
  pthread_mutex_unlock(&r->lock);
  if (!r->options.request_later) r->handler->producer->request(r->handler->producer, n);
}

static void cancel(struct peer_receiver *r) {
  if (!r->options.cancel_later) {
    r->handler->producer->cancel(r->handler->producer);
    r->handler->producer->cancel(r->handler->producer);
    r->handler->producer->request(r->handler->producer, 1);  // a NOP from here on
    return;
  }
  pthread_mutex_lock(&r->lock);
  r->to_cancel = true;
  pthread_cond_broadcast(&r->changed);
  pthread_mutex_unlock(&r->lock);
}

static void extract(struct peer_receiver *r, struct waiting one, bool discard) {
  struct ArrowDeviceArray *array = discard ? NULL : peer_zeroed(sizeof *array);
  if (array != NULL) memset(array, 0xdb, sizeof *array);
  int code = one.task.extract_data(&one.task, array);
  struct peer_seen seen;
  memset(&seen, 0, sizeof seen);
  if (code == 0 && array != NULL) {
    peer_look(array, &r->schema, &r->view, &seen);
    peer_release_array(&array->array);
  }
  free(array);
  pthread_mutex_lock(&r->lock);
  r->received.extracted++;
  r->received.extract_errors += code != 0;
  if (!discard && code == 0) {
    peer_add(&r->values[one.number], "batch %lld\n", (long long)one.number);
    if (seen.values.length > 0) peer_add(&r->values[one.number], "%s", seen.values.bytes);
  }
  if (seen.problems.length > 0) peer_add(&r->received.seen.problems, "%s", seen.problems.bytes);
  if (seen.advice.length > 0) peer_add(&r->received.seen.advice, "%s", seen.advice.bytes);
  pthread_cond_broadcast(&r->changed);
  pthread_mutex_unlock(&r->lock);
  peer_seen_free(&seen);
}

static int on_schema(struct ArrowAsyncDeviceStreamHandler *self, struct ArrowSchema *schema) {
  struct peer_receiver *r = self->private_data;
  enter(r, "on_schema");
  if (r->received.schema) peer_mistake("on_schema a second time");
  if (self->producer == NULL) peer_mistake("on_schema without a producer");
  r->received.schema = true;
  r->schema = *schema;
  schema->release = NULL;
  peer_look_plain(NULL, &r->schema, &r->view, &r->received.seen);
  if (self->producer != NULL && self->producer->device_type != r->view.device_type)
    peer_mistake("the producer is of device type %d", self->producer->device_type);
  r->refused = r->options.schema_code != 0;
  if (!r->refused && r->options.cancel_after == 0) cancel(r);
  if (!r->refused) request(r, r->options.first);
  leave(r);
  return r->options.schema_code;
}

static void take(struct peer_receiver *r, struct ArrowAsyncTask *task) {
  struct waiting one = {*task, r->received.tasks++};
  enum peer_extract how = r->options.extract;
  if (one.number >= MOST_TASKS) abort();
  if (how == PEER_SOME) how = (enum peer_extract)peer_below(&r->random, PEER_SOME);
  if (r->received.tasks > r->requested) peer_mistake("more tasks than were requested");
  if (how != PEER_LATER) {
    extract(r, one, how == PEER_DISCARD);
    return;
  }
  pthread_mutex_lock(&r->lock);
  r->waiting[r->n_waiting++] = one;
  pthread_cond_broadcast(&r->changed);
  pthread_mutex_unlock(&r->lock);
}

static int on_next_task(struct ArrowAsyncDeviceStreamHandler *self, struct ArrowAsyncTask *task, const char *metadata) {
  (void)metadata;
  struct peer_receiver *r = self->private_data;
  enter(r, "on_next_task");
  if (!r->received.schema) peer_mistake("on_next_task before on_schema");
  if (r->received.ended) peer_mistake("on_next_task after the end");
  int code = 0;
  if (task == NULL) {
    r->received.ended = true;
  } else {
    take(r, task);
    if (r->received.tasks == r->options.cancel_after) cancel(r);
    if (r->received.tasks == r->options.refuse_after) code = r->options.task_code;
    r->refused = code != 0;
    if (code == 0) request(r, r->options.next);
  }
  leave(r);
  return code;
}

static void on_error(struct ArrowAsyncDeviceStreamHandler *self, int code, const char *message, const char *metadata) {
  (void)metadata;
  struct peer_receiver *r = self->private_data;
  enter(r, "on_error");
  r->received.errors++;
  r->received.code = code;
  if (code == 0) peer_mistake("on_error with code 0");
  if (message != NULL) r->received.message = peer_duplicate(message, strlen(message));
  leave(r);
}

static void on_release(struct ArrowAsyncDeviceStreamHandler *self) {
  struct peer_receiver *r = self->private_data;
  pthread_mutex_lock(&r->lock);
  if (r->in_callback) peer_mistake("release while another callback runs");
  if (r->received.released) peer_mistake("release a second time");
  r->received.released = true;
  // After this the producer no longer exists, so the worker must not be calling it.
  while (r->in_call) pthread_cond_wait(&r->changed, &r->lock);
  self->release = NULL;
  pthread_cond_broadcast(&r->changed);
  pthread_mutex_unlock(&r->lock);
  peer_count(&peer_book.handlers, -1);
}

static void *work(void *argument) {
  struct peer_receiver *r = argument;
  uint64_t random = r->options.seed;
  pthread_mutex_lock(&r->lock);
  for (;;) {
    bool calls = !r->received.released && (r->to_cancel || r->to_request != 0);
    if (calls) {
      bool cancels = r->to_cancel;
      int64_t n = r->to_request;
      if (cancels) r->to_cancel = false;
      else r->to_request = 0;
      r->in_call = true;
      pthread_mutex_unlock(&r->lock);
      if (cancels) r->handler->producer->cancel(r->handler->producer);
      else r->handler->producer->request(r->handler->producer, n);
      pthread_mutex_lock(&r->lock);
      r->in_call = false;
      pthread_cond_broadcast(&r->changed);
    } else if (r->n_waiting > 0) {
      int64_t k = peer_below(&random, r->n_waiting);
      struct waiting one = r->waiting[k];
      r->waiting[k] = r->waiting[--r->n_waiting];
      bool discard = r->options.extract == PEER_SOME && peer_below(&random, 4) == 0;
      pthread_mutex_unlock(&r->lock);
      extract(r, one, discard);
      pthread_mutex_lock(&r->lock);
    } else if (r->received.released) {
      break;
    } else {
      pthread_cond_wait(&r->changed, &r->lock);
    }
  }
  pthread_mutex_unlock(&r->lock);
  return NULL;
}

struct peer_receiver *peer_receiver(const struct peer_receive *options, const struct peer_view *view) {
  struct peer_receiver *r = peer_zeroed(sizeof *r);
  pthread_mutex_init(&r->lock, NULL);
  pthread_cond_init(&r->changed, NULL);
  r->options = *options;
  r->view = *view;
  r->random = options->seed;
  r->handler = peer_zeroed(sizeof *r->handler);
  *r->handler = (struct ArrowAsyncDeviceStreamHandler){on_schema, on_next_task, on_error, on_release, NULL, r};
  peer_count(&peer_book.handlers, 1);
  if (pthread_create(&r->worker, NULL, work, r) != 0) abort();
  return r;
}

struct ArrowAsyncDeviceStreamHandler *peer_handler(struct peer_receiver *r) { return r->handler; }

struct peer_received *peer_receive_wait(struct peer_receiver *r) {
  pthread_join(r->worker, NULL);
  for (int64_t i = 0; i < r->received.tasks; i++)
    if (r->values[i].length > 0) peer_add(&r->received.seen.values, "%s", r->values[i].bytes);
  return &r->received;
}

void peer_receive_free(struct peer_receiver *r) {
  for (int64_t i = 0; i < r->received.tasks; i++) peer_text_free(&r->values[i]);
  peer_seen_free(&r->received.seen);
  free(r->received.message);
  peer_release_schema(&r->schema);
  free(r->handler);
  pthread_mutex_destroy(&r->lock);
  pthread_cond_destroy(&r->changed);
  free(r);
}
