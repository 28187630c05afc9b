//go:build cgo && unix && !(386 || arm || mips || mipsle)

#include "basics.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *memory) {
  if (memory == NULL) {
    fputs("peer: out of memory\n", stderr);
    abort();
  }
  return memory;
}

void *peer_zeroed(size_t bytes) { return must(calloc(1, bytes > 0 ? bytes : 1)); }

char *peer_duplicate(const char *from, size_t bytes) {
  char *copy = peer_zeroed(bytes + 1);
  memcpy(copy, from, bytes);
  return copy;
}

static void reserve(struct peer_text *text, size_t further) {
  if (text->length + further + 1 <= text->capacity) return;
  text->capacity = 2 * text->capacity + further + 64;
  text->bytes = must(realloc(text->bytes, text->capacity));
}

void peer_add(struct peer_text *text, const char *format, ...) {
  va_list measured, printed;
  va_start(measured, format);
  va_copy(printed, measured);
  int needed = vsnprintf(NULL, 0, format, measured);
  va_end(measured);
  reserve(text, (size_t)needed);
  vsnprintf(text->bytes + text->length, (size_t)needed + 1, format, printed);
  va_end(printed);
  text->length += (size_t)needed;
}

void peer_add_hex(struct peer_text *text, const uint8_t *bytes, int64_t count) {
  peer_add(text, "x");
  for (int64_t i = 0; i < count; i++) peer_add(text, "%02x", bytes[i]);
}

void peer_add_quoted(struct peer_text *text, const uint8_t *bytes, int64_t count) {
  peer_add(text, "\"");
  for (int64_t i = 0; i < count; i++) {
    if (bytes[i] >= ' ' && bytes[i] < 0x7f && bytes[i] != '"' && bytes[i] != '\\')
      peer_add(text, "%c", bytes[i]);
    else
      peer_add(text, "\\x%02x", bytes[i]);
  }
  peer_add(text, "\"");
}

void peer_text_free(struct peer_text *text) {
  free(text->bytes);
  memset(text, 0, sizeof *text);
}

struct peer_arena_block {
  struct peer_arena_block *next;
  _Alignas(16) uint8_t bytes[];
};

void *peer_take(struct peer_arena *arena, size_t bytes) {
  struct peer_arena_block *block = peer_zeroed(sizeof *block + bytes);
  block->next = arena->blocks;
  arena->blocks = block;
  return block->bytes;
}

void peer_arena_free(struct peer_arena *arena) {
  while (arena->blocks != NULL) {
    struct peer_arena_block *next = arena->blocks->next;
    free(arena->blocks);
    arena->blocks = next;
  }
}

// splitmix64
uint64_t peer_random(uint64_t *state) {
  uint64_t mixed = *state += 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
  return mixed ^ mixed >> 31;
}

int64_t peer_below(uint64_t *state, int64_t bound) {
  return bound > 0 ? (int64_t)(peer_random(state) % (uint64_t)bound) : 0;
}
