//go:build cgo && unix && !(386 || arm || mips || mipsle)

// Checks the contents of buffers: within the children, in order, and counted correctly.

#include <string.h>

#include "look.h"

typedef long long wide;

int64_t peer_integer(const uint8_t *bytes, int64_t i, int64_t width, bool is_signed) {
  uint64_t value = 0;
  memcpy(&value, bytes + i * width, (size_t)width);  // little endian, any alignment
  int unused = (int)(64 - 8 * width);
  return is_signed ? (int64_t)(value << unused) >> unused : (int64_t)value;
}

bool peer_valid(const struct peer_node *node, int64_t i) {
  switch (node->layout.kind) {
    case PEER_NULL:
      return false;
    case PEER_SPARSE:
    case PEER_DENSE:
    case PEER_RUNS:
      return true;
    default:
      return node->buffers[0] == NULL || node->buffers[0][(node->array->offset + i) / 8] >> (node->array->offset + i) % 8 & 1;
  }
}

static int64_t at(const struct peer_node *node, int buffer, int64_t i) {
  int64_t width = node->layout.kind == PEER_DENSE ? 4 : node->layout.width;
  return peer_integer(node->buffers[buffer], node->array->offset + i, width, true);
}

static void check_nulls(struct peer_looking *l, const struct peer_node *node, const char *path) {
  int64_t nulls = 0;
  for (int64_t i = 0; i < node->array->length; i++) nulls += !peer_valid(node, i);
  if (node->array->null_count >= 0 && node->array->null_count != nulls)
    peer_problem(l, path, "null_count %lld, but %lld are null", (wide)node->array->null_count, (wide)nulls);
}

static void check_lists(struct peer_looking *l, const struct peer_node *node, const char *path) {
  int64_t n = node->array->length, child = node->children[0].array->length;
  for (int64_t i = 0; i < n; i++) {
    int64_t from = at(node, 1, i), to;
    if (node->layout.kind == PEER_LIST_VIEW) {
      int64_t size = at(node, 2, i);
      to = size < 0 || size > child ? -1 : from + size;
    } else {
      to = at(node, 1, i + 1);
    }
    if (from < 0 || to < from || to > child)
      peer_problem(l, path, "list %lld from %lld to %lld of %lld", (wide)i, (wide)from, (wide)to, (wide)child);
  }
}

static void check_view(struct peer_looking *l, const struct peer_node *node, int64_t i, const char *path) {
  const uint8_t *view = node->buffers[1] + 16 * (node->array->offset + i);
  int64_t length = peer_integer(view, 0, 4, true), which = peer_integer(view, 2, 4, true);
  int64_t from = peer_integer(view, 3, 4, true);
  if (length >= 0 && length <= 12) {
    for (int64_t k = length; k < 12; k++)
      if (view[4 + k] != 0) {
        peer_problem(l, path, "view %lld is not padded with zeros", (wide)i);
        return;
      }
    return;
  }
  int64_t have = which >= 0 && which < node->n_variadic ? peer_integer(node->buffers[2], which, 8, true) : -1;
  if (length < 0 || from < 0 || from + length > have)
    peer_problem(l, path, "view %lld: %lld bytes from %lld of buffer %lld", (wide)i, (wide)length, (wide)from, (wide)which);
  else if (memcmp(view + 4, node->variadic[which] + from, 4) != 0)
    peer_problem(l, path, "view %lld has a wrong prefix", (wide)i);
}

static int child_of(const struct peer_node *node, int8_t id) {
  for (int k = 0; k < node->layout.n_ids; k++)
    if (node->layout.ids[k] == id) return k;
  return -1;
}

static void check_union(struct peer_looking *l, const struct peer_node *node, const char *path) {
  int64_t last[128];
  for (int k = 0; k < 128; k++) last[k] = -1;
  for (int64_t i = 0; i < node->array->length; i++) {
    int8_t id = (int8_t)node->buffers[0][node->array->offset + i];
    int child = child_of(node, id);
    if (child < 0) {
      peer_problem(l, path, "type id %d", id);
      return;
    }
    if (node->layout.kind != PEER_DENSE) continue;
    int64_t offset = at(node, 1, i);
    if (offset < 0 || offset >= node->children[child].array->length)
      peer_problem(l, path, "offset %lld into child %d", (wide)offset, child);
    // Slices and gathered arrays may repeat an offset; a smaller one is out of order.
    if (offset < last[child]) peer_advise(l, path, "offsets into child %d are not in order", child);
    last[child] = offset;
  }
}

static void check_runs(struct peer_looking *l, const struct peer_node *node, const char *path) {
  const struct peer_node *ends = &node->children[0];
  int64_t last = 0, need = node->array->offset + node->array->length;
  if (ends->array->null_count > 0) peer_problem(l, path, "null run ends");
  if (node->children[1].array->length < ends->array->length)
    peer_problem(l, path, "%lld run ends, %lld values", (wide)ends->array->length, (wide)node->children[1].array->length);
  for (int64_t i = 0; i < ends->array->length; i++) {
    int64_t end = at(ends, 1, i);
    if (end <= last) peer_problem(l, path, "run end %lld is %lld after %lld", (wide)i, (wide)end, (wide)last);
    last = end;
  }
  if (node->array->length > 0 && last < need) peer_problem(l, path, "runs end at %lld, not %lld", (wide)last, (wide)need);
}

static void check_long_enough(struct peer_looking *l, const struct peer_node *node, int64_t need, const char *path) {
  for (int64_t k = 0; k < node->n; k++)
    if (node->children[k].array->length < need)
      peer_problem(l, path, "child %lld has %lld elements, not %lld", (wide)k, (wide)node->children[k].array->length, (wide)need);
}

static bool utf8(const uint8_t *bytes, int64_t n) {
  for (int64_t i = 0; i < n;) {
    int more = bytes[i] < 0x80 ? 0 : bytes[i] >> 5 == 6 ? 1 : bytes[i] >> 4 == 14 ? 2 : bytes[i] >> 3 == 30 ? 3 : -1;
    if (more < 0 || i + more >= n) return false;
    for (i++; more > 0; more--, i++)
      if (bytes[i] >> 6 != 2) return false;
  }
  return true;
}

static void check_text(struct peer_looking *l, const struct peer_node *node, int64_t i, const char *path) {
  const uint8_t *bytes = NULL;
  int64_t n = 0;
  if (node->layout.kind == PEER_BINARY) {
    bytes = node->buffers[2] + at(node, 1, i);
    n = at(node, 1, i + 1) - at(node, 1, i);
  } else {
    const uint8_t *view = node->buffers[1] + 16 * (node->array->offset + i);
    n = peer_integer(view, 0, 4, true);
    bytes = n <= 12 ? view + 4 : node->variadic[peer_integer(view, 2, 4, true)] + peer_integer(view, 3, 4, true);
  }
  if (!utf8(bytes, n)) peer_problem(l, path, "element %lld is not UTF-8", (wide)i);
}

void peer_check_contents(struct peer_looking *l, struct peer_node *node, const char *path) {
  int64_t n = node->array->length, end = node->array->offset + n;
  int before = l->problems;
  check_nulls(l, node, path);
  switch (node->layout.kind) {
    case PEER_LIST:
    case PEER_LIST_VIEW:
      check_lists(l, node, path);
      break;
    case PEER_MAP:
      check_lists(l, node, path);
      if (node->children[0].array->null_count > 0) peer_problem(l, path, "null entries");
      if (node->children[0].children[0].array->null_count > 0) peer_problem(l, path, "null keys");
      break;
    case PEER_FIXED_LIST:
      check_long_enough(l, node, end * node->layout.width, path);
      break;
    case PEER_STRUCT:
      check_long_enough(l, node, end, path);
      break;
    case PEER_SPARSE:
      check_long_enough(l, node, end, path);
      // fallthrough
    case PEER_DENSE:
      check_union(l, node, path);
      break;
    case PEER_RUNS:
      check_runs(l, node, path);
      break;
    case PEER_VIEW:
      for (int64_t i = 0; i < n; i++)
        if (peer_valid(node, i)) check_view(l, node, i, path);
      break;
    default:;
  }
  if (node->layout.utf8 && l->problems == before)
    for (int64_t i = 0; i < n; i++)
      if (peer_valid(node, i)) check_text(l, node, i, path);
  if (node->dictionary == NULL) return;
  for (int64_t i = 0; i < n; i++) {
    if (!peer_valid(node, i)) continue;
    int64_t index = peer_integer(node->buffers[1], node->array->offset + i, node->layout.width, node->layout.is_signed);
    if (index < 0 || index >= node->dictionary->array->length)
      peer_problem(l, path, "index %lld of %lld", (wide)index, (wide)node->dictionary->array->length);
  }
}
