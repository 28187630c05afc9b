//go:build cgo && unix && !(386 || arm || mips || mipsle)

#include <string.h>

#include "make.h"

static bool parse(struct peer_arena *arena, const char **at, struct peer_type *type);

static char *word(struct peer_arena *arena, const char *from, size_t length) {
  char *copy = peer_take(arena, length + 1);
  memcpy(copy, from, length);
  return copy;
}

static bool parse_children(struct peer_arena *arena, const char **at, struct peer_type *type) {
  // A type has at most as many children as half of the remaining characters, plus one.
  type->children = peer_take(arena, (strlen(*at) / 2 + 1) * sizeof *type->children);
  if (**at == ')') return ++*at, true;
  for (;;) {
    struct peer_type *child = &type->children[type->n++];
    size_t length = strcspn(*at, "=!");
    child->name = word(arena, *at, length);
    *at += length;
    child->nullable = **at != '!';
    if (**at == '!') ++*at;
    if (**at != '=') return false;
    ++*at;
    if (!parse(arena, at, child)) return false;
    if (**at == ')') return ++*at, true;
    if (**at != ';') return false;
    ++*at;
  }
}

static bool parse(struct peer_arena *arena, const char **at, struct peer_type *type) {
  size_t length = strcspn(*at, "(<;)>");
  type->format = word(arena, *at, length);
  *at += length;
  if (peer_layout_of(type->format, &type->layout) != 0) return false;
  if (**at == '(') {
    ++*at;
    if (!parse_children(arena, at, type)) return false;
  }
  if (**at == '<') {
    ++*at;
    type->dictionary = peer_take(arena, sizeof *type->dictionary);
    type->dictionary->name = "";
    type->dictionary->nullable = true;
    if (!parse(arena, at, type->dictionary) || **at != '>') return false;
    ++*at;
  }
  switch (type->layout.kind) {
    case PEER_MAP:
      if (type->n != 1 || type->children[0].n != 2) return false;
      type->children[0].nullable = type->children[0].children[0].nullable = false;
      break;
    case PEER_RUNS:
      if (type->n != 2) return false;
      type->children[0].nullable = false;
      break;
    default:;
  }
  return true;
}

struct peer_type *peer_type_of(struct peer_arena *arena, const char *text) {
  struct peer_type *type = peer_take(arena, sizeof *type);
  type->name = "";
  type->nullable = *text != '!';
  if (*text == '!') text++;
  return parse(arena, &text, type) && *text == 0 ? type : NULL;
}
