//go:build cgo && unix && !(386 || arm || mips || mipsle)

// The lifetimes of the producer's objects: owners, releases, and their counts.

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "make.h"

enum { ALIVE = 0x6c697665, DEAD = 0x64656164, POISON = 0xdb };

struct memory {
  struct memory *next;
  void *base;
  size_t bytes;
};

struct slot {
  const void *bytes;
  int64_t size;
  bool on_host;
};

struct peer_owner {
  uint32_t state;
  struct peer_owner *next_dead;
  struct memory *memory;
  struct slot *slots;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct peer_owner *dead;
static struct peer_text mistakes;
struct peer_counts peer_book;

void peer_count(int64_t *counter, int64_t by) {
  pthread_mutex_lock(&lock);
  *counter += by;
  pthread_mutex_unlock(&lock);
}

struct peer_counts peer_counts(void) {
  pthread_mutex_lock(&lock);
  struct peer_counts copy = peer_book;
  pthread_mutex_unlock(&lock);
  return copy;
}

void peer_mistake(const char *format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  pthread_mutex_lock(&lock);
  peer_add(&mistakes, "%s\n", line);
  peer_book.mistakes++;
  pthread_mutex_unlock(&lock);
}

char *peer_mistakes(void) {
  pthread_mutex_lock(&lock);
  char *text = peer_duplicate(mistakes.length > 0 ? mistakes.bytes : "", mistakes.length);
  peer_text_free(&mistakes);
  peer_book.mistakes = peer_book.double_releases = 0;
  pthread_mutex_unlock(&lock);
  return text;
}

void peer_sweep(void) {
  pthread_mutex_lock(&lock);
  while (dead != NULL) {
    struct peer_owner *next = dead->next_dead;
    free(dead);
    dead = next;
  }
  pthread_mutex_unlock(&lock);
}

void *peer_own(struct peer_owner *owner, size_t bytes, size_t alignment, size_t shift) {
  void *base = NULL;
  if (posix_memalign(&base, alignment < sizeof(void *) ? sizeof(void *) : alignment, bytes + shift) != 0 || base == NULL)
    abort();
  struct memory *memory = peer_zeroed(sizeof *memory);
  *memory = (struct memory){owner->memory, base, bytes + shift};
  owner->memory = memory;
  memset(base, 0, bytes + shift);
  return (char *)base + shift;
}

static void copied(struct peer_owner *owner, struct slot *slot, const void **place, const void *bytes, int64_t size,
                   int64_t alignment, unsigned quirks) {
  if (size == 0 && quirks & PEER_EMPTY_IS_NULL) return;
  int64_t room = quirks & PEER_PADDED ? (size + 63) / 64 * 64 : size;
  size_t shift = quirks & PEER_ODD ? (size_t)alignment : 0;
  void *copy = peer_own(owner, (size_t)room, 64, shift);
  if (size > 0) memcpy(copy, bytes, (size_t)size);
  *place = slot->bytes = copy;
  slot->size = room;
}

void peer_own_buffer(struct ArrowArray *array, int64_t i, const void *bytes, int64_t size, int64_t alignment,
                     unsigned quirks, bool on_host) {
  struct peer_owner *owner = array->private_data;
  if (owner->slots == NULL) owner->slots = peer_own(owner, (size_t)array->n_buffers * sizeof *owner->slots, 16, 0);
  owner->slots[i].on_host = on_host;
  copied(owner, &owner->slots[i], &array->buffers[i], bytes, size, alignment, quirks);
}

int64_t peer_slots(struct ArrowArray *array, struct peer_slot *out, int64_t capacity) {
  int64_t n = 0;
  struct peer_owner *owner = array->private_data;
  for (int64_t i = 0; i < array->n_buffers; i++) {
    struct slot *slot = &owner->slots[i];
    if (slot->bytes == NULL) continue;
    if (n < capacity) out[n] = (struct peer_slot){&array->buffers[i], slot->bytes, slot->size, slot->on_host};
    n++;
  }
  for (int64_t i = 0; i <= array->n_children; i++) {
    struct ArrowArray *child = i < array->n_children ? array->children[i] : array->dictionary;
    if (child != NULL) n += peer_slots(child, out + (n < capacity ? n : capacity), n < capacity ? capacity - n : 0);
  }
  return n;
}

// bury marks an owner as released, and returns false if it was released before.
static bool bury(struct peer_owner *owner, const char *what) {
  pthread_mutex_lock(&lock);
  bool alive = owner->state == ALIVE;
  if (alive) {
    owner->state = DEAD;
    owner->next_dead = dead;
    dead = owner;
  } else {
    peer_book.double_releases++;
  }
  pthread_mutex_unlock(&lock);
  if (!alive) peer_mistake("%s was released a second time", what);
  return alive;
}

static void give_back(struct peer_owner *owner) {
  while (owner->memory != NULL) {
    struct memory *memory = owner->memory;
    owner->memory = memory->next;
    memset(memory->base, POISON, memory->bytes);
    free(memory->base);
    free(memory);
  }
  owner->slots = NULL;
}

static void release_array(struct ArrowArray *array) {
  struct peer_owner *owner = array->private_data;
  if (!bury(owner, "an array")) return;
  for (int64_t i = 0; i <= array->n_children; i++) {
    struct ArrowArray *child = i < array->n_children ? array->children[i] : array->dictionary;
    if (child == NULL) continue;
    if (child->release != NULL) child->release(child);
    memset(child, POISON, sizeof *child);
    free(child);
  }
  give_back(owner);
  array->release = NULL;
  peer_count(&peer_book.arrays, -1);
}

static void release_schema(struct ArrowSchema *schema) {
  struct peer_owner *owner = schema->private_data;
  if (!bury(owner, "a schema")) return;
  for (int64_t i = 0; i <= schema->n_children; i++) {
    struct ArrowSchema *child = i < schema->n_children ? schema->children[i] : schema->dictionary;
    if (child == NULL) continue;
    if (child->release != NULL) child->release(child);
    memset(child, POISON, sizeof *child);
    free(child);
  }
  give_back(owner);
  schema->release = NULL;
  peer_count(&peer_book.schemas, -1);
}

static struct peer_owner *owner_new(int64_t *counter) {
  struct peer_owner *owner = peer_zeroed(sizeof *owner);
  owner->state = ALIVE;
  peer_count(counter, 1);
  return owner;
}

struct peer_owner *peer_own_schema(struct ArrowSchema *schema) {
  *schema = (struct ArrowSchema){.release = release_schema, .private_data = owner_new(&peer_book.schemas)};
  return schema->private_data;
}

struct peer_owner *peer_own_array(struct ArrowArray *array) {
  *array = (struct ArrowArray){.release = release_array, .private_data = owner_new(&peer_book.arrays)};
  return array->private_data;
}
