package sink

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/gpuframe/gpuframe/internal/io/sink/rowgroups"
)

// footerWriter passes on what is written to it until the footer, which it keeps: arrow-go writes field IDs of flat columns only.
type footerWriter struct {
	io.Writer
	footer *bytes.Buffer // nil before the file is closed
}

// Write implements [io.Writer].
func (w *footerWriter) Write(data []byte) (int, error) {
	if w.footer != nil {
		return w.footer.Write(data)
	}
	return w.Writer.Write(data)
}

// finish writes what was kept, the end of a file, with IDs in its footer.
func (w *footerWriter) finish(ids []FieldID) error {
	const trailer = 8 // the length of the footer, and the magic
	kept := w.footer.Bytes()
	if len(kept) < trailer {
		return fmt.Errorf("the file has a footer of %d bytes: %w", len(kept), ErrUnsupported)
	}
	length := int(binary.LittleEndian.Uint32(kept[len(kept)-trailer:]))
	begin := len(kept) - trailer - length
	if begin < 0 {
		return fmt.Errorf("the file has a footer of %d bytes, expected %d: %w", len(kept)-trailer, length, ErrUnsupported)
	}
	footer, err := metadata.NewFileMetaData(kept[begin:len(kept)-trailer], nil)
	if err != nil {
		return err
	}
	number := 0
	if err := setFieldIDs(footer, footer.Schema.Root(), ids, &number); err != nil {
		return err
	}
	end := bytes.NewBuffer(kept[:begin:begin])
	written, err := footer.WriteTo(end, nil)
	if err != nil {
		return err
	}
	_ = binary.Write(end, binary.LittleEndian, uint32(written))
	end.WriteString("PAR1")
	_, err = w.Writer.Write(end.Bytes())
	return err
}

// setFieldIDs sets the IDs of the nodes below a group. Number is that of the group in the footer, which has them by depth.
func setFieldIDs(footer *metadata.FileMetaData, node schema.Node, ids []FieldID, number *int) error {
	group, ok := node.(*schema.GroupNode)
	if !ok {
		return nil
	}
	elements := footer.FileMetaData.Schema
	for i := range group.NumFields() {
		*number++
		var id FieldID
		if i < len(ids) {
			id = ids[i]
		}
		if id.ID > 0 {
			elements[*number].FieldID = &id.ID
		}
		if id.UUID {
			if err := rowgroups.MarkUUID(footer, *number); err != nil {
				return err
			}
		}
		child := group.Field(i)
		if kind := child.ConvertedType(); kind == schema.ConvertedTypes.List || kind == schema.ConvertedTypes.Map {
			*number++ // of the group that repeats
			child = child.(*schema.GroupNode).Field(0)
		}
		if err := setFieldIDs(footer, child, id.Members, number); err != nil {
			return err
		}
	}
	return nil
}
