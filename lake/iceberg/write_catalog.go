package iceberg

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/lake/internal/storage"
)

// cataloged is a table with metadata that a catalog writes.
type cataloged struct {
	catalog *Catalog
	name    []string
	path    string
	from    storage.Storage
}

// OpenWriter returns a writer of a table: the catalog commits its snapshots. Files are written to paths of the machine and to
// registered stores.
//
// # Errors
//
// They are those of [Catalog.Open] and the function [OpenWriter]. A catalog with [CatalogOptions].Store is [ErrUnsupported].
func (c *Catalog) OpenWriter(ctx context.Context, name []string, options WriteOptions) (*Writer, error) {
	w, t, err := c.newWriter(name, options)
	if err == nil {
		_, err = t.load(ctx)
	}
	if err != nil {
		return nil, failed("open", strings.Join(name, "."), err)
	}
	return w, nil
}

// Create makes a table by its name. The catalog chooses its folder, and has the namespace.
//
// # Errors
//
// They are those of [Catalog.OpenWriter] and the function [Create]. [ErrConflict] means that the catalog has the table.
func (c *Catalog) Create(ctx context.Context, name []string, schema *arrow.Schema, options WriteOptions) (*Writer, error) {
	w, t, err := c.newWriter(name, options)
	if err == nil {
		err = t.create(ctx, schema, options.PartitionBy)
	}
	if err != nil {
		return nil, failed("create", strings.Join(name, "."), err)
	}
	return w, nil
}

func (c *Catalog) newWriter(name []string, options WriteOptions) (*Writer, *cataloged, error) {
	path, err := c.tablePath(name)
	if err != nil {
		return nil, nil, err
	}
	if c.options.Store != nil {
		return nil, nil, fmt.Errorf("the catalog has an option Store, but tables are written to registered stores: %w", ErrUnsupported)
	}
	t := &cataloged{catalog: c, name: name, path: path}
	return &Writer{name: strings.Join(name, "."), options: options, table: t}, t, nil
}

// create makes the table. The catalog chooses its field IDs and its folder.
func (t *cataloged) create(ctx context.Context, schema *arrow.Schema, partitionBy []string) error {
	if schema == nil || schema.NumFields() == 0 {
		return fmt.Errorf("the schema has no columns: %w", ErrColumns)
	}
	fields, err := (&schemaWriter{}).fields(schema.Fields(), false)
	if err != nil {
		return err
	}
	spec, err := partitionSpecOf(partitionBy, fields)
	if err != nil {
		return err
	}
	contents, err := json.Marshal(map[string]any{
		"partition-spec": map[string]any{"spec-id": 0, "fields": spec},
		"name":           t.name[len(t.name)-1], "schema": map[string]any{"type": "struct", "schema-id": 0, "fields": fields}, "properties": map[string]string{"format-version": "2"},
	})
	if err != nil {
		return err
	}
	var answer loaded
	return t.catalog.request(ctx, http.MethodPost, t.path[:strings.LastIndex(t.path, "/")], contents, &answer)
}

func (t *cataloged) load(ctx context.Context) (*state, error) {
	var answer loaded
	if err := t.catalog.get(ctx, t.path, &answer); err != nil {
		return nil, err
	}
	s, err := newState(t.from, answer.Location, answer.Metadata)
	return s, inFile(answer.Location, err)
}

// commit sends the snapshot. The catalog refuses it if the branch has another snapshot than the one that it is made for.
func (t *cataloged) commit(ctx context.Context, s *state, snapshot map[string]any) error {
	contents, err := json.Marshal(map[string]any{
		"identifier": map[string]any{"namespace": t.name[:len(t.name)-1], "name": t.name[len(t.name)-1]},
		"requirements": []any{
			map[string]any{"type": "assert-table-uuid", "uuid": s.about.UUID},
			map[string]any{"type": "assert-current-schema-id", "current-schema-id": *s.metadata.CurrentSchema},
			map[string]any{"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": s.parent()},
		},
		"updates": []any{
			map[string]any{"action": "add-snapshot", "snapshot": snapshot},
			map[string]any{"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": snapshot["snapshot-id"]},
		},
	})
	if err != nil {
		return err
	}
	var answer loaded
	err = t.catalog.request(ctx, http.MethodPost, t.path, contents, &answer)
	if err == nil {
		return nil
	}
	var refused *refusedError
	isRefused := errors.As(err, &refused) && refused.status < 500
	if isRefused && refused.status != http.StatusConflict && refused.status != http.StatusRequestTimeout {
		return err
	}
	// A proxy may have repeated the request after it lost the answer: then the catalog refuses its own commit.
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), removeTime)
	defer stop()
	id, _ := snapshot["snapshot-id"].(int64)
	now, failure := t.load(ctx)
	if failure == nil && now.metadata.snapshot(id) != nil {
		return nil
	}
	if failure == nil && isRefused && refused.status == http.StatusConflict {
		return err
	}
	return fmt.Errorf("%w: %w", err, ErrUnknown)
}
