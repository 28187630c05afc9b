//go:build cgo && unix && !(386 || arm || mips || mipsle)

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "look.h"

static void line(struct peer_text *text, const char *path, const char *format, va_list arguments) {
  char message[400];
  vsnprintf(message, sizeof message, format, arguments);
  peer_add(text, "%s: %s\n", *path != 0 ? path : "base", message);
}

void peer_problem(struct peer_looking *l, const char *path, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (l->problems++ < 100) line(&l->seen->problems, path, format, arguments);
  va_end(arguments);
}

void peer_advise(struct peer_looking *l, const char *path, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  line(&l->seen->advice, path, format, arguments);
  va_end(arguments);
}

char *peer_path(struct peer_looking *l, const char *path, const char *child, int64_t number) {
  size_t room = strlen(path) + (child != NULL ? strlen(child) : 0) + 32;
  char *joined = peer_take(&l->arena, room);
  snprintf(joined, room, "%s/%s#%lld", path, child != NULL ? child : "", (long long)number);
  return joined;
}

static int32_t read_int32(const char **at) {
  int32_t value;
  memcpy(&value, *at, sizeof value);
  *at += sizeof value;
  return value;
}

static void read_metadata(struct peer_looking *l, const char *at, const char *path) {
  struct peer_text *out = &l->seen->type;
  int32_t pairs = read_int32(&at);
  if (pairs < 0 || pairs > 10000) {
    peer_problem(l, path, "metadata of %d pairs", pairs);
    return;
  }
  peer_add(out, " {");
  for (int32_t i = 0; i < 2 * pairs; i++) {
    int32_t length = read_int32(&at);
    if (length < 0 || length > 1 << 20) {
      peer_problem(l, path, "metadata with %d bytes", length);
      return;
    }
    peer_add(out, "%s", i == 0 ? "" : i % 2 == 0 ? "," : ":");
    peer_add_quoted(out, (const uint8_t *)at, length);
    at += length;
  }
  peer_add(out, "}");
}

static int64_t children_of(const struct peer_layout *layout) {
  switch (layout->kind) {
    case PEER_LIST:
    case PEER_LIST_VIEW:
    case PEER_FIXED_LIST:
    case PEER_MAP:
      return 1;
    case PEER_RUNS:
      return 2;
    case PEER_SPARSE:
    case PEER_DENSE:
      return layout->n_ids;
    case PEER_STRUCT:
      return -1;
    default:
      return 0;
  }
}

static bool children_sound(struct peer_looking *l, const struct ArrowSchema *schema, const struct peer_layout *layout,
                           const char *path) {
  int64_t want = children_of(layout);
  if (schema->n_children < 0 || (want >= 0 && schema->n_children != want)) {
    peer_problem(l, path, "format %s with %lld children", schema->format, (long long)schema->n_children);
    return false;
  }
  if (schema->n_children > 0 && schema->children == NULL) {
    peer_problem(l, path, "children is NULL, n_children %lld", (long long)schema->n_children);
    return false;
  }
  return true;
}

static void check_nested(struct peer_looking *l, const struct ArrowSchema *schema, const struct peer_layout *layout,
                         const char *path) {
  if (layout->kind == PEER_MAP) {
    const struct ArrowSchema *entries = schema->children[0];
    if (entries->format == NULL || strcmp(entries->format, "+s") != 0 || entries->n_children != 2)
      peer_problem(l, path, "the child of a map is no struct of two");
    else if (entries->children[0] != NULL && entries->children[0]->flags & ARROW_FLAG_NULLABLE)
      peer_advise(l, path, "the keys of a map are nullable");
  }
  if (layout->kind == PEER_RUNS) {
    const char *format = schema->children[0]->format;
    if (format == NULL || strlen(format) != 1 || strchr("sil", *format) == NULL)
      peer_problem(l, path, "run ends of format %s", format != NULL ? format : "NULL");
    else if (schema->children[0]->flags & ARROW_FLAG_NULLABLE)
      peer_advise(l, path, "run ends are nullable");
  }
}

void peer_read_schema(struct peer_looking *l, const struct ArrowSchema *schema, const char *path) {
  struct peer_text *out = &l->seen->type;
  struct peer_layout layout;
  if (schema == NULL) {
    peer_problem(l, path, "the schema is NULL");
    return;
  }
  if (schema->release == NULL) {
    peer_problem(l, path, "the schema is released");
    return;
  }
  if (peer_layout_of(schema->format, &layout) != 0) {
    peer_problem(l, path, "format %s", schema->format != NULL ? schema->format : "NULL");
    return;
  }
  int64_t known = ARROW_FLAG_NULLABLE | (layout.kind == PEER_MAP ? ARROW_FLAG_MAP_KEYS_SORTED : 0) |
                  (schema->dictionary != NULL ? ARROW_FLAG_DICTIONARY_ORDERED : 0);
  if (schema->flags & ~known) peer_problem(l, path, "flags %llx", (long long)schema->flags);
  peer_add(out, "%s=%s flags=%lld", schema->name != NULL ? schema->name : "", schema->format,
           (long long)schema->flags);
  if (schema->metadata != NULL) read_metadata(l, schema->metadata, path);
  if (!children_sound(l, schema, &layout, path)) return;
  if (schema->n_children > 0) {
    peer_add(out, " (");
    for (int64_t k = 0; k < schema->n_children; k++) {
      if (k > 0) peer_add(out, "; ");
      const struct ArrowSchema *child = schema->children[k];
      peer_read_schema(l, child, peer_path(l, path, child != NULL ? child->name : "", k));
    }
    peer_add(out, ")");
    if (l->problems == 0) check_nested(l, schema, &layout, path);
  }
  if (schema->dictionary == NULL) return;
  if (layout.kind != PEER_FIXED || !layout.integer) peer_problem(l, path, "dictionary indices of format %s", schema->format);
  peer_add(out, " <");
  peer_read_schema(l, schema->dictionary, peer_path(l, path, "dictionary", -1));
  peer_add(out, ">");
}
