//go:build cgo && unix && !(386 || arm || mips || mipsle)

// The consumer of streams of both kinds.

#include <stdlib.h>
#include <string.h>

#include "peer.h"

// source is the common interface of both kinds of stream.
struct source {
  struct ArrowDeviceArrayStream *device;
  struct ArrowArrayStream *plain;
};

static int ask_schema(struct source s, struct ArrowSchema *out) {
  return s.device != NULL ? s.device->get_schema(s.device, out) : s.plain->get_schema(s.plain, out);
}

static int ask_next(struct source s, struct ArrowDeviceArray *out) {
  // The earlier contents of the struct must not matter.
  memset(out, 0xdb, sizeof *out);
  if (s.device != NULL) return s.device->get_next(s.device, out);
  return s.plain->get_next(s.plain, &out->array);
}

static void fail(struct source s, int code, struct peer_drained *out) {
  out->code = code;
  const char *message = s.device != NULL ? s.device->get_last_error(s.device) : s.plain->get_last_error(s.plain);
  if (message != NULL) out->message = peer_duplicate(message, strlen(message));
}

static void see(struct source s, struct ArrowDeviceArray *array, struct ArrowSchema *schema,
                const struct peer_view *view, struct peer_seen *seen) {
  peer_text_free(&seen->type);
  peer_add(&seen->values, "batch\n");
  if (s.device != NULL)
    peer_look(array, schema, view, seen);
  else
    peer_look_plain(&array->array, schema, view, seen);
}

static void release(struct source s) {
  if (s.device != NULL) {
    s.device->release(s.device);
    if (s.device->release != NULL) peer_mistake("a stream's release left release set");
    return;
  }
  s.plain->release(s.plain);
  if (s.plain->release != NULL) peer_mistake("a stream's release left release set");
}

static void drain(struct source s, const struct peer_drain *options, const struct peer_view *view,
                  struct peer_drained *out) {
  struct ArrowSchema schema = {0}, again = {0};
  struct ArrowDeviceArray *kept = NULL;
  int code = ask_schema(s, &schema);
  for (int i = 1; i < options->schemas && code == 0; i++) {
    code = ask_schema(s, &again);
    if (code == 0) peer_release_schema(&again);
  }
  if (code != 0) fail(s, code, out);
  if (code == 0) peer_look_plain(NULL, &schema, view, &out->seen);
  while (code == 0 && !out->ended && (options->most < 0 || out->batches < options->most)) {
    struct ArrowDeviceArray array;
    code = ask_next(s, &array);
    if (code != 0) {
      fail(s, code, out);
      break;
    }
    if (array.array.release == NULL) {
      out->ended = true;
      break;
    }
    out->batches++;
    if (!options->keep) {
      see(s, &array, &schema, view, &out->seen);
      peer_release_array(&array.array);
      continue;
    }
    kept = realloc(kept, (size_t)out->batches * sizeof *kept);
    if (kept == NULL) abort();
    kept[out->batches - 1] = array;
  }
  for (int64_t i = 0; i < options->further && out->ended; i++) {
    struct ArrowDeviceArray array;
    if (ask_next(s, &array) == 0 && array.array.release != NULL) {
      peer_mistake("a batch after the end of the stream");
      peer_release_array(&array.array);
    }
  }
  release(s);
  for (int64_t i = 0; options->keep && i < out->batches; i++) {
    see(s, &kept[i], &schema, view, &out->seen);
    peer_release_array(&kept[i].array);
  }
  free(kept);
  peer_release_schema(&schema);
}

void peer_drain(struct ArrowDeviceArrayStream *stream, const struct peer_drain *options, const struct peer_view *view,
                struct peer_drained *out) {
  if (stream->device_type != view->device_type) peer_add(&out->seen.problems, "stream: device_type %d\n", stream->device_type);
  drain((struct source){stream, NULL}, options, view, out);
}

void peer_drain_plain(struct ArrowArrayStream *stream, const struct peer_drain *options, const struct peer_view *view,
                      struct peer_drained *out) {
  drain((struct source){NULL, stream}, options, view, out);
}

void peer_drained_free(struct peer_drained *out) {
  peer_seen_free(&out->seen);
  free(out->message);
}
