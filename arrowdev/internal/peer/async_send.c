//go:build cgo && unix && !(386 || arm || mips || mipsle)

// The asynchronous producer.

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "make.h"
#include "stream.h"

struct peer_sender {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  pthread_t thread;
  // The thread and each task hold one reference.
  int holders;
  struct ArrowAsyncDeviceStreamHandler *handler;
  struct ArrowAsyncProducer *producer;
  struct peer_queue *queue;
  struct peer_send options;
  struct peer_sent sent;
  bool cancelled, bad_request, extract_failed;
};

struct pending {
  struct peer_sender *sender;
  struct ArrowDeviceArray array;
  bool fails;
};

static void let_go(struct peer_sender *sender) {
  pthread_mutex_lock(&sender->lock);
  bool last = --sender->holders == 0;
  pthread_mutex_unlock(&sender->lock);
  if (!last) return;
  pthread_mutex_destroy(&sender->lock);
  pthread_cond_destroy(&sender->changed);
  memset(sender, 0xdb, sizeof *sender);
  free(sender);
}

static void request(struct ArrowAsyncProducer *self, int64_t n) {
  struct peer_sender *sender = self->private_data;
  pthread_mutex_lock(&sender->lock);
  if (!sender->cancelled) {
    if (n <= 0) sender->bad_request = true;
    if (n > 0) sender->sent.requested += n;
  }
  pthread_cond_broadcast(&sender->changed);
  pthread_mutex_unlock(&sender->lock);
}

static void cancel(struct ArrowAsyncProducer *self) {
  struct peer_sender *sender = self->private_data;
  pthread_mutex_lock(&sender->lock);
  sender->cancelled = true;
  sender->sent.cancels++;
  pthread_cond_broadcast(&sender->changed);
  pthread_mutex_unlock(&sender->lock);
}

static int extract_data(struct ArrowAsyncTask *self, struct ArrowDeviceArray *out) {
  struct pending *pending = self->private_data;
  struct peer_sender *sender = pending->sender;
  int code = pending->fails ? EIO : 0;
  if (out == NULL || pending->fails)
    peer_release_array(&pending->array.array);
  else
    *out = pending->array;
  if (pending->fails) {
    pthread_mutex_lock(&sender->lock);
    sender->extract_failed = true;
    pthread_cond_broadcast(&sender->changed);
    pthread_mutex_unlock(&sender->lock);
  }
  memset(pending, 0xdb, sizeof *pending);
  free(pending);
  peer_count(&peer_book.tasks, -1);
  let_go(sender);
  return code;
}

// may_send waits until a task may be sent; false ends the stream.
static bool may_send(struct peer_sender *sender, bool without_request) {
  pthread_mutex_lock(&sender->lock);
  bool may = false;
  while (!sender->bad_request && !sender->extract_failed) {
    bool wanted = sender->sent.requested > sender->sent.tasks;
    may = without_request || wanted;
    if (sender->cancelled) may = wanted && sender->options.finish_requested && !without_request;
    if (may || sender->cancelled) break;
    pthread_cond_wait(&sender->changed, &sender->lock);
  }
  if (sender->bad_request || sender->extract_failed) may = false;
  pthread_mutex_unlock(&sender->lock);
  return may;
}

static int send_one(struct peer_sender *sender) {
  static const char metadata[] = "\1\0\0\0\3\0\0\0key\5\0\0\0value";
  struct pending *pending = peer_zeroed(sizeof *pending);
  pending->sender = sender;
  pending->fails = sender->sent.tasks == sender->options.fail_extract;
  peer_queue_next(sender->queue, &pending->array);
  pthread_mutex_lock(&sender->lock);
  sender->holders++;
  sender->sent.tasks++;
  pthread_mutex_unlock(&sender->lock);
  peer_count(&peer_book.tasks, 1);
  // Both live for the call only.
  struct ArrowAsyncTask *task = peer_zeroed(sizeof *task);
  char *passing = sender->options.metadata ? peer_duplicate(metadata, sizeof metadata - 1) : NULL;
  *task = (struct ArrowAsyncTask){extract_data, pending};
  int code = sender->handler->on_next_task(sender->handler, task, passing);
  memset(task, 0xdb, sizeof *task);
  free(task);
  free(passing);
  return code;
}

static void error(struct peer_sender *sender, int code, const char *message) {
  sender->sent.errored = true;
  char *passing = message != NULL ? peer_duplicate(message, strlen(message)) : NULL;
  sender->handler->on_error(sender->handler, code, passing, NULL);
  free(passing);
}

static int send_schema(struct peer_sender *sender) {
  struct ArrowSchema *schema = peer_zeroed(sizeof *schema);
  peer_queue_schema(sender->queue, schema);
  int code = sender->handler->on_schema(sender->handler, schema);
  if (schema->release != NULL && code == 0) peer_mistake("on_schema left the schema where it was");
  peer_release_schema(schema);
  memset(schema, 0xdb, sizeof *schema);
  free(schema);
  return code;
}

static void send_all(struct peer_sender *sender) {
  const struct peer_source *source = &sender->queue->source;
  if (source->schema_code != 0) {
    error(sender, source->schema_code, source->message);
    return;
  }
  sender->sent.schema_code = send_schema(sender);
  if (sender->sent.schema_code != 0) return;
  for (;;) {
    int64_t next = sender->queue->next;
    bool fails = next == source->fail_after, ends = next == source->count;
    bool may = may_send(sender, fails || (ends && !sender->options.end_requested));
    if (sender->bad_request) error(sender, EINVAL, "request of nothing");
    else if (sender->extract_failed) error(sender, EIO, "extract_data failed");
    if (!may) return;
    if (fails) {
      error(sender, source->code, source->message);
      return;
    }
    if (ends) {
      sender->sent.task_code = sender->handler->on_next_task(sender->handler, NULL, NULL);
      return;
    }
    sender->sent.task_code = send_one(sender);
    if (sender->sent.task_code != 0) return;
  }
}

static void *send_thread(void *argument) {
  struct peer_sender *sender = argument;
  sender->handler->producer = sender->producer;
  send_all(sender);
  sender->handler->release(sender->handler);
  sender->sent.released = true;
  memset(sender->producer, 0xdb, sizeof *sender->producer);
  free(sender->producer);
  peer_count(&peer_book.producers, -1);
  peer_queue_free(sender->queue);
  return NULL;
}

struct peer_sender *peer_send(struct ArrowAsyncDeviceStreamHandler *handler, const struct peer_source *source,
                              const struct peer_send *options) {
  struct peer_sender *sender = peer_zeroed(sizeof *sender);
  pthread_mutex_init(&sender->lock, NULL);
  pthread_cond_init(&sender->changed, NULL);
  sender->holders = 1;
  sender->handler = handler;
  sender->queue = peer_queue_new(source);
  sender->options = *options;
  sender->producer = peer_zeroed(sizeof *sender->producer);
  *sender->producer = (struct ArrowAsyncProducer){source->device_type, request, cancel, NULL, sender};
  peer_count(&peer_book.producers, 1);
  if (pthread_create(&sender->thread, NULL, send_thread, sender) != 0) abort();
  return sender;
}

void peer_send_wait(struct peer_sender *sender, struct peer_sent *sent) {
  pthread_join(sender->thread, NULL);
  pthread_mutex_lock(&sender->lock);
  *sent = sender->sent;
  pthread_mutex_unlock(&sender->lock);
  let_go(sender);
}
