//go:build cgo && unix && !(386 || arm || mips || mipsle)

// The consumer's operations on an array: read, release, move children out.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "look.h"

void peer_look_plain(struct ArrowArray *array, struct ArrowSchema *schema, const struct peer_view *view,
                     struct peer_seen *seen) {
  struct peer_looking l = {.view = view, .seen = seen};
  peer_read_schema(&l, schema, "");
  struct peer_node node = {0};
  bool sound = array != NULL && l.problems == 0 && peer_read_array(&l, schema, array, "", &node);
  for (int64_t i = 0; sound && l.problems == 0 && i < array->length; i++) {
    peer_print(&node, i, &seen->values);
    peer_add(&seen->values, "\n");
  }
  peer_arena_free(&l.arena);
}

void peer_look(struct ArrowDeviceArray *array, struct ArrowSchema *schema, const struct peer_view *view,
               struct peer_seen *seen) {
  struct peer_looking l = {.view = view, .seen = seen};
  if (array->device_type != view->device_type) peer_problem(&l, "", "device_type %d", array->device_type);
  if (array->device_id != view->device_id) peer_problem(&l, "", "device_id %lld", (long long)array->device_id);
  if (array->device_type == ARROW_DEVICE_CPU && array->sync_event != NULL) peer_problem(&l, "", "sync_event on the CPU");
  for (int i = 0; i < 3; i++)
    if (array->reserved[i] != 0) peer_problem(&l, "", "reserved[%d] is %llx", i, (long long)array->reserved[i]);
  peer_look_plain(&array->array, schema, view, seen);
}

void peer_seen_free(struct peer_seen *seen) {
  peer_text_free(&seen->values);
  peer_text_free(&seen->type);
  peer_text_free(&seen->problems);
  peer_text_free(&seen->advice);
}

void peer_release_array(struct ArrowArray *array) {
  if (array->release == NULL) return;
  array->release(array);
  if (array->release != NULL) peer_mistake("an array's release left release set");
}

void peer_release_schema(struct ArrowSchema *schema) {
  if (schema->release == NULL) return;
  schema->release(schema);
  if (schema->release != NULL) peer_mistake("a schema's release left release set");
}

// dismantled releases the children that were moved out, in a random order.
static void dismantled(struct ArrowArray **moved, int64_t n, uint64_t *random) {
  for (int64_t left = n; left > 0; left--) {
    int64_t k = peer_below(random, left);
    peer_release_array(moved[k]);
    free(moved[k]);
    moved[k] = moved[left - 1];
  }
}

void peer_dismantle(struct ArrowArray *array, struct ArrowSchema *schema, enum peer_order order, uint64_t seed,
                    const struct peer_view *view, struct peer_seen *seen) {
  uint64_t random = seed;
  int64_t n = array->n_children, kept = 0;
  struct ArrowArray **moved = peer_zeroed((size_t)(n + 1) * sizeof *moved);
  int64_t *which = peer_zeroed((size_t)(n + 1) * sizeof *which);
  for (int64_t k = 0; k < n; k++) {
    if (peer_below(&random, 4) == 0) continue;
    moved[kept] = peer_zeroed(sizeof **moved);
    *moved[kept] = *array->children[k];
    array->children[k]->release = NULL;
    which[kept++] = k;
  }
  // The address of the struct itself must not matter to the producer.
  struct ArrowArray *elsewhere = peer_zeroed(sizeof *elsewhere);
  *elsewhere = *array;
  memset(array, 0xdb, sizeof *array);
  array->release = NULL;
  if (order == PEER_BASE_FIRST) peer_release_array(elsewhere);
  for (int64_t k = 0; k < kept; k++) {
    peer_add(&seen->values, "child %lld\n", (long long)which[k]);
    peer_look_plain(moved[k], schema->children[which[k]], view, seen);
  }
  dismantled(moved, kept, &random);
  if (order == PEER_BASE_LAST) peer_release_array(elsewhere);
  free(elsewhere);
  free(moved);
  free(which);
}

struct call {
  void (*run)(void *);
  void *argument;
};

static void *called(void *argument) {
  struct call *call = argument;
  call->run(call->argument);
  return NULL;
}

int peer_on_thread(void (*run)(void *), void *argument) {
  struct call call = {run, argument};
  pthread_t thread;
  int failed = pthread_create(&thread, NULL, called, &call);
  return failed != 0 ? failed : pthread_join(thread, NULL);
}
