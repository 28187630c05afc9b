package world

import (
	"encoding/json"
	"fmt"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/schemajson"
)

// announcement is the first message of an operation to another rank.
type announcement struct {
	Operation string `json:"operation"`
	Number    uint64 `json:"number"`
	Root      int    `json:"root,omitempty"`
	Target    int    `json:"target,omitempty"`
	// Table describes the rows for the other rank, or is nil.
	Table *tableMessage `json:"table,omitempty"`
}

type tableMessage struct {
	Schema schemajson.Schema `json:"schema"`
	Rows   int64             `json:"rows"`
	// Bytes is an upper bound of the memory, except for dictionaries.
	Bytes uint64 `json:"bytes"`
}

// blockMessage describes a block with some columns of a table.
type blockMessage struct {
	Bytes   uint64               `json:"bytes"`
	Columns []column.Description `json:"columns"`
	// Pieces are the parts of the block that NCCL moves.
	Pieces []extent `json:"pieces,omitempty"`
}

// encode encodes a message of this package, which can always be encoded.
func encode(message any) []byte {
	text, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	return text
}

func decode(text []byte, message any) error {
	if err := json.Unmarshal(text, message); err != nil {
		return fmt.Errorf("%w: %w", err, ErrProtocol)
	}
	return nil
}
