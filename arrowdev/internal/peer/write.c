//go:build cgo && unix && !(386 || arm || mips || mipsle)

// Writes columns into the structs of the standard.

#include <string.h>

#include "make.h"

static const char *owned_text(struct peer_owner *owner, const char *text) {
  char *copy = peer_own(owner, strlen(text) + 1, 1, 0);
  return strcpy(copy, text);
}

static void put_int32(char **at, int32_t value) {
  memcpy(*at, &value, sizeof value);
  *at += sizeof value;
}

static const char *metadata(struct peer_owner *owner, const char *name) {
  const char *pairs[] = {"peer", name, "empty", ""};
  char *blob = peer_own(owner, 64 + strlen(name), 1, 0), *at = blob;
  put_int32(&at, 2);
  for (int i = 0; i < 4; i++) {
    int32_t length = (int32_t)strlen(pairs[i]);
    put_int32(&at, length);
    memcpy(at, pairs[i], (size_t)length);
    at += length;
  }
  return blob;
}

void peer_write_schema(const struct peer_type *type, unsigned quirks, struct ArrowSchema *out) {
  struct peer_owner *owner = peer_own_schema(out);
  out->format = owned_text(owner, type->format);
  if (!(quirks & PEER_NAMES_NULL)) out->name = owned_text(owner, type->name);
  if (quirks & PEER_METADATA) out->metadata = metadata(owner, type->name);
  if (type->nullable) out->flags |= ARROW_FLAG_NULLABLE;
  out->n_children = type->n;
  if (type->n > 0) out->children = peer_own(owner, (size_t)type->n * sizeof *out->children, 16, 0);
  for (int64_t k = 0; k < type->n; k++) {
    out->children[k] = peer_zeroed(sizeof **out->children);
    peer_write_schema(&type->children[k], quirks, out->children[k]);
  }
  if (type->dictionary != NULL) {
    out->dictionary = peer_zeroed(sizeof *out->dictionary);
    peer_write_schema(type->dictionary, quirks, out->dictionary);
  }
}

// writer is one array under way.
struct writer {
  struct peer_arena scratch;
  const struct peer_column *column;
  const struct peer_options *options;
  uint64_t *random;
  struct ArrowArray *out;
};

static uint8_t *bits(struct writer *w, bool (*of)(const struct peer_column *, int64_t)) {
  int64_t total = w->column->total;
  uint8_t *bitmap = peer_take(&w->scratch, (size_t)(total + 7) / 8 + 1);
  for (int64_t i = 0; i < (total + 7) / 8 * 8; i++) {
    bool behind = w->options->quirks & PEER_GARBAGE && peer_below(w->random, 2);
    if (i < total ? of(w->column, i) : behind) bitmap[i / 8] |= (uint8_t)(1 << i % 8);
  }
  return bitmap;
}

static bool valid(const struct peer_column *column, int64_t i) { return column->null == NULL || !column->null[i]; }
static bool set(const struct peer_column *column, int64_t i) { return column->fixed[i] & 1; }

static void buffer(struct writer *w, int64_t i, const void *bytes, int64_t size, int64_t alignment) {
  peer_own_buffer(w->out, i, bytes, size, alignment, w->options->quirks, false);
}

static void validity(struct writer *w) {
  const struct peer_column *column = w->column;
  if (column->null == NULL && !(w->options->quirks & PEER_VALIDITY)) {
    if (w->options->quirks & PEER_UNKNOWN_NULLS) w->out->null_count = -1;
    return;
  }
  for (int64_t i = 0; i < column->length; i++) w->out->null_count += !valid(column, column->base + i);
  if (w->options->quirks & PEER_UNKNOWN_NULLS) w->out->null_count = -1;
  buffer(w, 0, bits(w, valid), (column->total + 7) / 8, 1);
}

// integers narrows numbers to a width.
static void *integers(struct writer *w, const int64_t *values, int64_t count, int64_t width) {
  uint8_t *narrow = peer_take(&w->scratch, (size_t)(count * width));
  for (int64_t i = 0; i < count; i++) memcpy(narrow + i * width, &values[i], (size_t)width);
  return narrow;
}

static void offsets(struct writer *w) {
  const struct peer_column *column = w->column;
  int64_t total = column->total, width = column->type->layout.width, count = total + 1;
  int64_t *ends = peer_take(&w->scratch, (size_t)count * sizeof *ends);
  memcpy(ends, column->start, (size_t)total * sizeof *ends);
  if (total > 0) ends[total] = column->start[total - 1] + column->count[total - 1];
  if (total == 0 && w->options->quirks & PEER_NO_OFFSETS) count = 0;
  buffer(w, 1, integers(w, ends, count, width), count * width, width);
}

// view writes the 16 bytes of a view, and the text of a long one into one of the data
// buffers.
static void view(struct writer *w, uint8_t *out, int64_t row, struct peer_text *data) {
  const uint8_t *bytes = w->column->bytes + w->column->start[row];
  int32_t length = (int32_t)w->column->count[row];
  if (!valid(w->column, row) && w->options->quirks & PEER_GARBAGE) {
    memset(out, 0x7e, 16);
    return;
  }
  memcpy(out, &length, 4);
  if (length <= 12) {
    memcpy(out + 4, bytes, (size_t)length);
    return;
  }
  int32_t which = (int32_t)peer_below(w->random, 3), at = (int32_t)data[which].length;
  memcpy(out + 4, bytes, 4);
  memcpy(out + 8, &which, 4);
  memcpy(out + 12, &at, 4);
  for (int32_t i = 0; i < length; i++) {  // peer_add stops at a zero
    peer_add(&data[which], "?");
    data[which].bytes[data[which].length - 1] = (char)bytes[i];
  }
}

static void views(struct writer *w) {
  struct peer_text data[3] = {{0}};
  int64_t total = w->column->total, lengths[3];
  uint8_t *all = peer_take(&w->scratch, (size_t)total * 16);
  for (int64_t i = 0; i < total; i++) view(w, all + 16 * i, i, data);
  buffer(w, 1, all, 16 * total, 8);
  for (int k = 0; k < 3; k++) {
    lengths[k] = (int64_t)data[k].length;
    buffer(w, 2 + k, data[k].bytes, lengths[k], 1);
    peer_text_free(&data[k]);
  }
  peer_own_buffer(w->out, 5, lengths, sizeof lengths, 8, w->options->quirks & ~(unsigned)PEER_PADDED, true);
}

static void ids(struct writer *w) {
  int8_t *all = peer_take(&w->scratch, (size_t)w->column->total);
  for (int64_t i = 0; i < w->column->total; i++) all[i] = w->column->type->layout.ids[w->column->which[i]];
  buffer(w, 0, all, w->column->total, 1);
}

static int64_t buffers_of(enum peer_kind kind) {
  switch (kind) {
    case PEER_NULL:
    case PEER_RUNS:
      return 0;
    case PEER_STRUCT:
    case PEER_FIXED_LIST:
    case PEER_SPARSE:
      return 1;
    case PEER_BINARY:
    case PEER_LIST_VIEW:
      return 3;
    case PEER_VIEW:
      return 6;
    default:
      return 2;
  }
}

static void write_buffers(struct writer *w) {
  const struct peer_column *column = w->column;
  int64_t width = column->type->layout.width, total = column->total;
  enum peer_kind kind = column->type->layout.kind;
  if (kind == PEER_NULL) w->out->null_count = w->options->quirks & PEER_UNKNOWN_NULLS ? -1 : column->length;
  if (kind == PEER_NULL || kind == PEER_RUNS) return;
  if (kind == PEER_SPARSE || kind == PEER_DENSE)
    ids(w);
  else
    validity(w);
  switch (kind) {
    case PEER_BOOL:
      buffer(w, 1, bits(w, set), (total + 7) / 8, 1);
      return;
    case PEER_FIXED:
      buffer(w, 1, column->fixed, width * total, column->type->layout.alignment);
      return;
    case PEER_BINARY:
      offsets(w);
      buffer(w, 2, column->bytes, column->n_bytes, 1);
      return;
    case PEER_VIEW:
      views(w);
      return;
    case PEER_LIST:
    case PEER_MAP:
      offsets(w);
      return;
    case PEER_LIST_VIEW:
      buffer(w, 1, integers(w, column->start, total, width), width * total, width);
      buffer(w, 2, integers(w, column->count, total, width), width * total, width);
      return;
    case PEER_DENSE:
      buffer(w, 1, integers(w, column->start, total, 4), 4 * total, 4);
      return;
    default:;
  }
}

void peer_write_array(const struct peer_column *column, const struct peer_options *options, uint64_t *random,
                      struct ArrowArray *out) {
  struct peer_owner *owner = peer_own_array(out);
  struct writer w = {{0}, column, options, random, out};
  out->length = column->length;
  out->offset = column->base;
  out->n_buffers = buffers_of(column->type->layout.kind);
  if (out->n_buffers > 0) {
    out->buffers = peer_own(owner, (size_t)out->n_buffers * sizeof *out->buffers, 16, 0);
    // The slots are made here, because an omitted buffer makes none.
    peer_own_buffer(out, 0, NULL, 0, 1, PEER_EMPTY_IS_NULL, false);
  }
  write_buffers(&w);
  peer_arena_free(&w.scratch);
  out->n_children = column->type->n;
  if (out->n_children > 0) out->children = peer_own(owner, (size_t)out->n_children * sizeof *out->children, 16, 0);
  for (int64_t k = 0; k < out->n_children; k++) {
    out->children[k] = peer_zeroed(sizeof **out->children);
    peer_write_array(&column->children[k], options, random, out->children[k]);
  }
  if (column->dictionary != NULL) {
    out->dictionary = peer_zeroed(sizeof *out->dictionary);
    peer_write_array(column->dictionary, options, random, out->dictionary);
  }
}

int peer_produce(const char *text, const struct peer_options *options, struct ArrowSchema *schema,
                 struct ArrowDeviceArray *array, struct peer_text *values) {
  struct peer_arena arena = {0};
  struct peer_type *type = peer_type_of(&arena, text);
  if (type == NULL) {
    peer_arena_free(&arena);
    return -1;
  }
  uint64_t random = options->seed;
  struct peer_column column = {0};
  peer_fill(&arena, &column, type, options->length, 0, options, &random);
  for (int64_t i = 0; values != NULL && i < column.length; i++) {
    peer_render(&column, i, values);
    peer_add(values, "\n");
  }
  if (schema != NULL) peer_write_schema(type, options->quirks, schema);
  if (array != NULL) {
    memset(array, 0, sizeof *array);
    peer_write_array(&column, options, &random, &array->array);
    array->device_id = options->device_id;
    array->device_type = options->device_type;
    array->sync_event = options->sync_event;
    if (options->quirks & PEER_CPU_ZERO && options->device_type == ARROW_DEVICE_CPU) array->device_id = 0;
    if (options->quirks & PEER_RESERVED_SET) memset(array->reserved, 0x5a, sizeof array->reserved);
  }
  peer_arena_free(&arena);
  return 0;
}
