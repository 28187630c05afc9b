package arrowdev

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
)

// assemble makes a column of a node. All claims of the node must have regions.
func (i *importer) assemble(n *node) (*column.Column, error) {
	data := column.Data{
		Type: n.dataType, Length: n.length, Offset: n.offset, NullCount: n.nulls,
		Buffers: i.newBuffers(len(n.claims)), Manager: i.manager,
	}
	for k := range n.claims {
		data.Buffers[k] = n.claims[k].region
	}
	var err error
	if data.Children, err = i.assembleAll(n.children); err != nil {
		return nil, err
	}
	if n.dictionary != nil {
		data.Dictionary, err = i.assemble(n.dictionary)
	}
	var c *column.Column
	if err == nil {
		if c, err = column.New(data); err != nil {
			err = faulty(n.path(), "%w", err)
		}
	}
	// The column holds references to its children and dictionary.
	if err = also(also(err, release.All(data.Children)), data.Dictionary.Release()); err != nil {
		return nil, also(err, c.Release())
	}
	return c, nil
}

// newBuffers returns a part of the list that all columns share.
func (i *importer) newBuffers(count int) []column.Bytes {
	if i.regions == nil {
		i.regions = make([]column.Bytes, 0, i.buffers)
	}
	from := len(i.regions)
	i.regions = i.regions[:from+count]
	return i.regions[from : from+count : from+count]
}

// assembleAll makes a column of each node.
func (i *importer) assembleAll(nodes []*node) ([]*column.Column, error) {
	if len(nodes) == 0 {
		return nil, nil
	}
	columns := make([]*column.Column, 0, len(nodes))
	for _, n := range nodes {
		c, err := i.assemble(n)
		if err != nil {
			return nil, also(err, release.All(columns))
		}
		columns = append(columns, c)
	}
	return columns, nil
}

// assembleTable makes a table of the root's children.
func (i *importer) assembleTable(root *node, schema *arrow.Schema) (*buffer.Buffer, error) {
	columns, err := i.assembleAll(root.children)
	if err != nil {
		return nil, err
	}
	table, err := buffer.New(schema, columns, buffer.Rows{Count: int64(root.length), Manager: i.manager})
	if err != nil {
		err = faulty("", "%w", err)
	}
	if err = also(err, release.All(columns)); err != nil {
		return nil, also(err, table.Release())
	}
	return table, nil
}
