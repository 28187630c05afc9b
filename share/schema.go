package share

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/arrays/schemajson"
)

// schemaMessage is the schema in a message.
type (
	schemaMessage = schemajson.Schema
	fieldMessage  = schemajson.Field
)

func formatSchema(schema *arrow.Schema) (schemaMessage, error) {
	return orType(schemajson.Of(schema))
}

func formatField(field arrow.Field) (fieldMessage, error) {
	return orType(schemajson.OfField(field))
}

func parseSchema(message schemaMessage) (*arrow.Schema, error) { return orType(message.Schema()) }

// orType adds ErrType to an error.
func orType[T any](parsed T, err error) (T, error) {
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrType, err)
	}
	return parsed, err
}
