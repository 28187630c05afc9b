//go:build cgo && unix && !(386 || arm || mips || mipsle)

// Checks the structs of an array against its schema and copies its buffers to memory
// that C can read.

#include <string.h>

#include "look.h"

const uint8_t *peer_fetch(struct peer_looking *l, const void *from, int64_t size, bool on_host) {
  static const uint8_t nothing[16];
  if (from == NULL) return size == 0 ? nothing : NULL;
  if (l->view->reader == 0 || on_host) {
    if (l->view->padding && !on_host) {
      // The address sanitizer sees these reads.
      volatile uint8_t sum = 0;
      int64_t room = (size + 63) / 64 * 64;
      for (int64_t i = size; i < room; i++) sum += ((const volatile uint8_t *)from)[i];
    }
    return from;
  }
  if (size == 0) return nothing;
  uint8_t *copy = peer_take(&l->arena, (size_t)size);
  return peerReadMemory(l->view->reader, (uintptr_t)from, copy, size) == 0 ? copy : NULL;
}

// fetched is peer_fetch with the standard's rules for NULL.
static const uint8_t *fetched(struct peer_looking *l, const struct ArrowArray *array, int64_t i, int64_t size,
                              int64_t alignment, const char *path) {
  const void *from = array->buffers[i];
  if (from != NULL && alignment > 1 && (uintptr_t)from % (uintptr_t)alignment != 0)
    peer_advise(l, path, "buffer %lld is not aligned to %lld", (long long)i, (long long)alignment);
  if (from == NULL && size > 0) {
    peer_problem(l, path, "buffer %lld is NULL where %lld bytes are needed", (long long)i, (long long)size);
    return NULL;
  }
  const uint8_t *bytes = peer_fetch(l, from, size, false);
  if (bytes == NULL) peer_problem(l, path, "buffer %lld cannot be read", (long long)i);
  return bytes;
}

static bool counts_sound(struct peer_looking *l, const struct ArrowSchema *schema, const struct ArrowArray *array,
                         const struct peer_layout *layout, const char *path) {
  static const int64_t buffers[] = {
      [PEER_NULL] = 0, [PEER_BOOL] = 2,   [PEER_FIXED] = 2,      [PEER_BINARY] = 3,
      [PEER_VIEW] = 3, [PEER_LIST] = 2,   [PEER_LIST_VIEW] = 3,  [PEER_FIXED_LIST] = 1,
      [PEER_MAP] = 2,  [PEER_STRUCT] = 1, [PEER_SPARSE] = 1,     [PEER_DENSE] = 2,
      [PEER_RUNS] = 0,
  };
  int before = l->problems;
  long long want = buffers[layout->kind], have = array->n_buffers;
  if (array->length < 0 || array->offset < 0 || array->length > INT64_MAX - array->offset)
    peer_problem(l, path, "length %lld, offset %lld", (long long)array->length, (long long)array->offset);
  if (array->null_count < -1 || array->null_count > array->length)
    peer_problem(l, path, "null_count %lld of %lld", (long long)array->null_count, (long long)array->length);
  if (have < want || (have > want && layout->kind != PEER_VIEW)) peer_problem(l, path, "n_buffers %lld, not %lld", have, want);
  if (have > 0 && array->buffers == NULL) peer_problem(l, path, "buffers is NULL");
  if (array->n_children != schema->n_children)
    peer_problem(l, path, "n_children %lld, the schema's %lld", (long long)array->n_children,
                 (long long)schema->n_children);
  if (array->n_children > 0 && array->children == NULL) peer_problem(l, path, "children is NULL");
  if ((array->dictionary == NULL) != (schema->dictionary == NULL))
    peer_problem(l, path, array->dictionary == NULL ? "no dictionary" : "a dictionary that the schema lacks");
  return l->problems == before;
}

static bool fetch_views(struct peer_looking *l, struct peer_node *node, const char *path) {
  const struct ArrowArray *array = node->array;
  int64_t n = array->n_buffers - 3, end = array->offset + array->length;
  node->buffers[1] = fetched(l, array, 1, 16 * end, 8, path);
  const void *from = array->buffers[array->n_buffers - 1];
  if (from == NULL && n > 0) {
    peer_problem(l, path, "no lengths of %lld data buffers", (long long)n);
    return false;
  }
  const uint8_t *lengths = peer_fetch(l, from, 8 * n, true);
  node->n_variadic = n;
  node->buffers[2] = lengths;
  node->variadic = peer_take(&l->arena, (size_t)n * sizeof *node->variadic);
  for (int64_t k = 0; k < n; k++) {
    int64_t length = peer_integer(lengths, k, 8, true);
    if (length < 0) peer_problem(l, path, "data buffer %lld of %lld bytes", (long long)k, (long long)length);
    node->variadic[k] = length < 0 ? NULL : fetched(l, array, 2 + k, length, 1, path);
    if (node->variadic[k] == NULL) return false;
  }
  return node->buffers[1] != NULL;
}

static bool fetch_offsets(struct peer_looking *l, struct peer_node *node, const char *path) {
  const struct ArrowArray *array = node->array;
  int64_t end = array->offset + array->length, width = node->layout.width;
  if (array->buffers[1] == NULL && end == 0) {
    peer_advise(l, path, "no offset at all");
    node->buffers[1] = peer_take(&l->arena, (size_t)width);
  } else {
    node->buffers[1] = fetched(l, array, 1, width * (end + 1), width, path);
  }
  if (node->buffers[1] == NULL) return false;
  if (node->layout.kind != PEER_BINARY) return true;
  int64_t last = peer_integer(node->buffers[1], end, width, true);
  for (int64_t i = array->offset; i < end; i++) {
    int64_t from = peer_integer(node->buffers[1], i, width, true), to = peer_integer(node->buffers[1], i + 1, width, true);
    if (from < 0 || to < from) {
      peer_problem(l, path, "offset %lld is %lld, the next %lld", (long long)i, (long long)from, (long long)to);
      return false;
    }
  }
  node->buffers[2] = fetched(l, array, 2, last, 1, path);
  return node->buffers[2] != NULL;
}

static bool fetch(struct peer_looking *l, struct peer_node *node, const char *path) {
  const struct ArrowArray *array = node->array;
  const struct peer_layout *layout = &node->layout;
  int64_t end = array->offset + array->length;
  switch (layout->kind) {
    case PEER_NULL:
    case PEER_RUNS:
      if (layout->kind == PEER_RUNS && array->null_count != 0)
        peer_problem(l, path, "null_count %lld of run ends", (long long)array->null_count);
      return true;
    case PEER_SPARSE:
    case PEER_DENSE:
      if (array->null_count != 0) peer_problem(l, path, "null_count %lld of a union", (long long)array->null_count);
      node->buffers[0] = fetched(l, array, 0, end, 1, path);
      if (node->buffers[0] == NULL || layout->kind == PEER_SPARSE) return node->buffers[0] != NULL;
      node->buffers[1] = fetched(l, array, 1, 4 * end, 4, path);
      return node->buffers[1] != NULL;
    default:;
  }
  if (array->buffers[0] != NULL) {
    node->buffers[0] = fetched(l, array, 0, (end + 7) / 8, 1, path);
    if (node->buffers[0] == NULL) return false;
  } else if (array->null_count > 0) {
    peer_problem(l, path, "null_count %lld without validity", (long long)array->null_count);
  } else if (array->null_count < 0 && end > 0) {
    peer_advise(l, path, "null_count -1 without validity");
  }
  switch (layout->kind) {
    case PEER_BOOL:
      node->buffers[1] = fetched(l, array, 1, (end + 7) / 8, 1, path);
      return node->buffers[1] != NULL;
    case PEER_FIXED:
      node->buffers[1] = fetched(l, array, 1, layout->width * end, layout->alignment, path);
      return node->buffers[1] != NULL;
    case PEER_BINARY:
    case PEER_LIST:
    case PEER_MAP:
      return fetch_offsets(l, node, path);
    case PEER_VIEW:
      return fetch_views(l, node, path);
    case PEER_LIST_VIEW:
      node->buffers[1] = fetched(l, array, 1, layout->width * end, layout->width, path);
      node->buffers[2] = fetched(l, array, 2, layout->width * end, layout->width, path);
      return node->buffers[1] != NULL && node->buffers[2] != NULL;
    default:
      return true;
  }
}

bool peer_read_array(struct peer_looking *l, const struct ArrowSchema *schema, const struct ArrowArray *array,
                     const char *path, struct peer_node *node) {
  if (array == NULL || array->release == NULL) {
    peer_problem(l, path, array == NULL ? "the array is NULL" : "the array is released");
    return false;
  }
  node->array = array;
  if (peer_layout_of(schema->format, &node->layout) != 0) return false;
  if (!counts_sound(l, schema, array, &node->layout, path) || !fetch(l, node, path)) return false;
  bool sound = true;
  node->n = array->n_children;
  node->children = peer_take(&l->arena, (size_t)node->n * sizeof *node->children);
  for (int64_t k = 0; k < node->n; k++)
    sound &= peer_read_array(l, schema->children[k], array->children[k],
                             peer_path(l, path, schema->children[k]->name, k), &node->children[k]);
  if (schema->dictionary != NULL) {
    node->dictionary = peer_take(&l->arena, sizeof *node->dictionary);
    sound &= peer_read_array(l, schema->dictionary, array->dictionary, peer_path(l, path, "dictionary", -1),
                             node->dictionary);
  }
  if (sound) peer_check_contents(l, node, path);
  return sound;
}
