package share

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// version is the version of the protocol.
const version = 1

const (
	mostRequestBytes = 64 << 10
	mostAnswerBytes  = 16 << 20
	// mostBlocks is the limit of descriptors in one message. The kernel's limit is 253.
	mostBlocks = 64
	mostName   = 255
)

// The operations of a request.
const (
	operationHello  = "hello"
	operationTables = "tables"
	operationOpen   = "open"
	operationClose  = "close"
)

// request is a message of a client.
type request struct {
	ID        uint64 `json:"id"`
	Operation string `json:"operation"`
	Version   int    `json:"version,omitempty"`
	Name      string `json:"name,omitempty"`
	Reference uint64 `json:"reference,omitempty"`
}

// answer is a message of a server.
type answer struct {
	ID        uint64       `json:"id"`
	Error     *failure     `json:"error,omitempty"`
	Version   int          `json:"version,omitempty"`
	Tables    []TableInfo  `json:"tables,omitempty"`
	Reference uint64       `json:"reference,omitempty"`
	Table     *description `json:"table,omitempty"`
}

type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// decode reads one JSON value and refuses unknown fields and further values.
func decode(message []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(message))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("%w: %w", err, ErrProtocol)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return fmt.Errorf("bytes after the JSON value: %w", ErrProtocol)
	}
	return nil
}

// parseRequest reads a client's message.
func parseRequest(message []byte) (request, error) {
	var r request
	if err := decode(message, &r); err != nil {
		return request{}, err
	}
	fits := false
	switch r.Operation {
	case operationHello:
		fits = r.Version > 0 && r.Name == "" && r.Reference == 0
	case operationTables:
		fits = r.Version == 0 && r.Name == "" && r.Reference == 0
	case operationOpen:
		fits = r.Version == 0 && checkName(r.Name) == nil && r.Reference == 0
	case operationClose:
		fits = r.Version == 0 && r.Name == "" && r.Reference != 0
	}
	if !fits || r.ID == 0 {
		return request{}, fmt.Errorf("request %q has too few or too many fields: %w", r.Operation, ErrProtocol)
	}
	return r, nil
}

// parseAnswer reads a server's message. It refuses a description with a buffer beyond its
// block.
func parseAnswer(message []byte) (answer, error) {
	var a answer
	if err := decode(message, &a); err != nil {
		return answer{}, err
	}
	for _, info := range a.Tables {
		if err := info.check(); err != nil {
			return answer{}, err
		}
	}
	if (a.Table == nil) != (a.Reference == 0) {
		return answer{}, fmt.Errorf("a table without a reference, or a reference without a table: %w", ErrProtocol)
	}
	if a.Table == nil {
		return a, nil
	}
	if err := a.Table.check(); err != nil {
		return answer{}, fmt.Errorf("description of table %q: %w: %w", a.Table.Name, err, ErrProtocol)
	}
	return a, nil
}

// checkName refuses names that a message and a terminal would show differently.
func checkName(name string) error {
	if name == "" || len(name) > mostName || !utf8.ValidString(name) {
		return fmt.Errorf("a name of %d bytes, expected 1 to %d bytes of UTF-8: %w", len(name), mostName, ErrName)
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("a name with character %U, expected printable ones: %w", r, ErrName)
		}
	}
	return nil
}
