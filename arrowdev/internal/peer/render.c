//go:build cgo && unix && !(386 || arm || mips || mipsle)

// Writes the rows of a column as text, from the intended contents and not from buffers.

#include "make.h"

static void render_list(const struct peer_column *child, int64_t from, int64_t count, struct peer_text *text) {
  peer_add(text, "[");
  for (int64_t k = 0; k < count; k++) {
    if (k > 0) peer_add(text, ",");
    peer_render(child, from + k, text);
  }
  peer_add(text, "]");
}

void peer_render(const struct peer_column *column, int64_t i, struct peer_text *text) {
  int64_t row = column->base + i;
  const struct peer_layout *layout = &column->type->layout;
  if (layout->kind == PEER_NULL || (column->null != NULL && column->null[row])) {
    peer_add(text, "null");
    return;
  }
  if (column->dictionary != NULL) {
    peer_render(column->dictionary, column->start[row], text);
    return;
  }
  switch (layout->kind) {
    case PEER_BOOL:
      peer_add(text, "%s", column->fixed[row] & 1 ? "true" : "false");
      return;
    case PEER_FIXED:
      peer_add_hex(text, column->fixed + row * layout->width, layout->width);
      return;
    case PEER_BINARY:
    case PEER_VIEW:
      peer_add_quoted(text, column->bytes + column->start[row], column->count[row]);
      return;
    case PEER_LIST:
    case PEER_MAP:
    case PEER_LIST_VIEW:
    case PEER_FIXED_LIST:
      render_list(&column->children[0], column->start[row], column->count[row], text);
      return;
    case PEER_STRUCT:
      peer_add(text, "{");
      for (int64_t k = 0; k < column->type->n; k++) {
        if (k > 0) peer_add(text, ",");
        peer_render(&column->children[k], row, text);
      }
      peer_add(text, "}");
      return;
    case PEER_SPARSE:
    case PEER_DENSE:
      peer_add(text, "(%d:", layout->ids[column->which[row]]);
      peer_render(&column->children[column->which[row]], column->start[row], text);
      peer_add(text, ")");
      return;
    case PEER_RUNS:
      peer_render(&column->children[1], column->start[row], text);
      return;
    case PEER_NULL:
      return;
  }
}
