//go:build cgo && unix && !(386 || arm || mips || mipsle)

// The producer of streams of both kinds.

#include "stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "make.h"

struct peer_queue *peer_queue_new(const struct peer_source *source) {
  struct peer_queue *queue = peer_zeroed(sizeof *queue);
  queue->source = *source;
  queue->source.type = peer_duplicate(source->type, strlen(source->type));
  if (source->message != NULL) queue->source.message = peer_duplicate(source->message, strlen(source->message));
  queue->source.batches = peer_zeroed((size_t)(source->count + 1) * sizeof *source->batches);
  for (int64_t i = 0; i < source->count; i++) {
    queue->source.batches[i] = source->batches[i];
    source->batches[i].array.release = NULL;
  }
  return queue;
}

void peer_queue_free(struct peer_queue *queue) {
  for (int64_t i = 0; i < queue->source.count; i++) peer_release_array(&queue->source.batches[i].array);
  free((char *)queue->source.type);
  free((char *)queue->source.message);
  free(queue->source.batches);
  memset(queue, 0xdb, sizeof *queue);
  free(queue);
}

int peer_queue_schema(struct peer_queue *queue, struct ArrowSchema *out) {
  struct peer_options none = {0};
  none.quirks = queue->source.quirks;
  queue->failed = queue->source.schema_code != 0;
  if (queue->failed) return queue->source.schema_code;
  return peer_produce(queue->source.type, &none, out, NULL, NULL);
}

int peer_queue_next(struct peer_queue *queue, struct ArrowDeviceArray *out) {
  const struct peer_source *source = &queue->source;
  // A stream that failed keeps failing.
  queue->failed = source->fail_after >= 0 && queue->next >= source->fail_after;
  if (queue->failed) return source->code;
  memset(out, 0, sizeof *out);
  out->device_type = source->device_type;
  if (queue->next == source->count) return 0;
  *out = source->batches[queue->next];
  source->batches[queue->next++].array.release = NULL;
  return 0;
}

static const char *last_error(struct peer_queue *queue) {
  if (!queue->failed) peer_mistake("get_last_error without an error before");
  return queue->source.message;
}

static int get_schema(struct ArrowDeviceArrayStream *stream, struct ArrowSchema *out) {
  return peer_queue_schema(stream->private_data, out);
}

static int get_next(struct ArrowDeviceArrayStream *stream, struct ArrowDeviceArray *out) {
  return peer_queue_next(stream->private_data, out);
}

static const char *get_last_error(struct ArrowDeviceArrayStream *stream) { return last_error(stream->private_data); }

static void release(struct ArrowDeviceArrayStream *stream) {
  peer_queue_free(stream->private_data);
  stream->release = NULL;
  peer_count(&peer_book.streams, -1);
}

void peer_stream(const struct peer_source *source, struct ArrowDeviceArrayStream *out) {
  peer_count(&peer_book.streams, 1);
  *out = (struct ArrowDeviceArrayStream){source->device_type, get_schema, get_next, get_last_error, release,
                                         peer_queue_new(source)};
}

static int plain_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  return peer_queue_schema(stream->private_data, out);
}

static int plain_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  struct ArrowDeviceArray array;
  int code = peer_queue_next(stream->private_data, &array);
  if (code == 0) *out = array.array;
  return code;
}

static const char *plain_last_error(struct ArrowArrayStream *stream) { return last_error(stream->private_data); }

static void plain_release(struct ArrowArrayStream *stream) {
  peer_queue_free(stream->private_data);
  stream->release = NULL;
  peer_count(&peer_book.streams, -1);
}

void peer_stream_plain(const struct peer_source *source, struct ArrowArrayStream *out) {
  peer_count(&peer_book.streams, 1);
  *out = (struct ArrowArrayStream){plain_schema, plain_next, plain_last_error, plain_release, peer_queue_new(source)};
}

void peer_release_stream(struct ArrowDeviceArrayStream *stream) { stream->release(stream); }
