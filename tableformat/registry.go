package tableformat

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/gpuframe/gpuframe"
)

// ErrFormat means that no imported package reads tables of the format.
var ErrFormat = errors.New("no imported package reads the format")

// Open returns a query on the rows of a table: of its folder, as a path or a URL.
type Open func(ctx context.Context, engine *gpuframe.Engine, path string, options Options) (gpuframe.Query, error)

// registry has the formats by their names.
var registry = struct {
	sync.RWMutex
	formats map[string]Open
}{formats: map[string]Open{}}

// remedies are the instructions for formats of this project.
var remedies = map[string]string{
	"delta":   `import _ "github.com/gpuframe/gpuframe/lake/delta", or use the programs of github.com/gpuframe/gpuframe/distribution`,
	"iceberg": `import _ "github.com/gpuframe/gpuframe/lake/iceberg", or use the programs of github.com/gpuframe/gpuframe/distribution`,
}

// Register adds a format. It is safe for concurrent use.
//
// # Errors
//
// The name is empty or taken, or open is nil.
func Register(format string, open Open) error {
	if format == "" || open == nil {
		return fmt.Errorf("tableformat: register %q: expected a name and a function that opens tables", format)
	}
	registry.Lock()
	defer registry.Unlock()
	if registry.formats[format] != nil {
		return fmt.Errorf("tableformat: register %q: the format is taken", format)
	}
	registry.formats[format] = open
	return nil
}

// Formats returns the registered formats in order.
func Formats() []string {
	registry.RLock()
	defer registry.RUnlock()
	return slices.Sorted(maps.Keys(registry.formats))
}

// Scan returns a query on a table. It reads the metadata of the table; its files are read when the query runs.
//
// # Errors
//
// An error of a format that no imported package reads wraps [ErrFormat]. The others are those of the package of the format.
func Scan(ctx context.Context, engine *gpuframe.Engine, format, path string, options Options) (gpuframe.Query, error) {
	registry.RLock()
	open := registry.formats[format]
	registry.RUnlock()
	if open == nil {
		return gpuframe.Query{}, fmt.Errorf("tableformat: a table of %s: %w: %s", format, ErrFormat, remedy(format))
	}
	return open(ctx, engine, path, options)
}

// remedy returns the instruction for a format that is not registered.
func remedy(format string) string {
	if text := remedies[format]; text != "" {
		return text
	}
	if known := Formats(); len(known) > 0 {
		return "the imported packages read " + strings.Join(known, ", ")
	}
	return "no package of a format is imported"
}
