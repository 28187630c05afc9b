//go:build cgo && unix && !(386 || arm || mips || mipsle)

// Writes the elements of an array as text.

#include "look.h"

static void print_range(const struct peer_node *child, int64_t from, int64_t to, struct peer_text *text) {
  peer_add(text, "[");
  for (int64_t k = from; k < to; k++) {
    if (k > from) peer_add(text, ",");
    peer_print(child, k, text);
  }
  peer_add(text, "]");
}

static void print_union(const struct peer_node *node, int64_t row, struct peer_text *text) {
  int8_t id = (int8_t)node->buffers[0][row];
  int child = 0;
  while (node->layout.ids[child] != id) child++;
  int64_t element = node->layout.kind == PEER_DENSE ? peer_integer(node->buffers[1], row, 4, true) : row;
  peer_add(text, "(%d:", id);
  peer_print(&node->children[child], element, text);
  peer_add(text, ")");
}

static void print_run(const struct peer_node *node, int64_t row, struct peer_text *text) {
  const struct peer_node *ends = &node->children[0];
  int64_t run = 0;
  while (peer_integer(ends->buffers[1], ends->array->offset + run, ends->layout.width, true) <= row) run++;
  peer_print(&node->children[1], run, text);
}

static void print_view(const struct peer_node *node, int64_t row, struct peer_text *text) {
  const uint8_t *view = node->buffers[1] + 16 * row;
  int64_t length = peer_integer(view, 0, 4, true);
  const uint8_t *bytes = view + 4;
  if (length > 12) bytes = node->variadic[peer_integer(view, 2, 4, true)] + peer_integer(view, 3, 4, true);
  peer_add_quoted(text, bytes, length);
}

void peer_print(const struct peer_node *node, int64_t i, struct peer_text *text) {
  const struct peer_layout *layout = &node->layout;
  int64_t row = node->array->offset + i, width = layout->width;
  const uint8_t *second = node->buffers[1];
  if (!peer_valid(node, i)) {
    peer_add(text, "null");
    return;
  }
  if (node->dictionary != NULL) {
    peer_print(node->dictionary, peer_integer(second, row, width, layout->is_signed), text);
    return;
  }
  switch (layout->kind) {
    case PEER_NULL:
      return;
    case PEER_BOOL:
      peer_add(text, "%s", second[row / 8] >> row % 8 & 1 ? "true" : "false");
      return;
    case PEER_FIXED:
      peer_add_hex(text, second + row * width, width);
      return;
    case PEER_BINARY: {
      int64_t from = peer_integer(second, row, width, true);
      peer_add_quoted(text, node->buffers[2] + from, peer_integer(second, row + 1, width, true) - from);
      return;
    }
    case PEER_VIEW:
      print_view(node, row, text);
      return;
    case PEER_LIST:
    case PEER_MAP:
      print_range(&node->children[0], peer_integer(second, row, width, true), peer_integer(second, row + 1, width, true),
                  text);
      return;
    case PEER_LIST_VIEW: {
      int64_t from = peer_integer(second, row, width, true);
      print_range(&node->children[0], from, from + peer_integer(node->buffers[2], row, width, true), text);
      return;
    }
    case PEER_FIXED_LIST:
      print_range(&node->children[0], row * width, (row + 1) * width, text);
      return;
    case PEER_STRUCT:
      peer_add(text, "{");
      for (int64_t k = 0; k < node->n; k++) {
        if (k > 0) peer_add(text, ",");
        peer_print(&node->children[k], row, text);
      }
      peer_add(text, "}");
      return;
    case PEER_SPARSE:
    case PEER_DENSE:
      print_union(node, row, text);
      return;
    case PEER_RUNS:
      print_run(node, row, text);
      return;
  }
}
