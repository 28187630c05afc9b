package tableformat

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"
)

// ErrOption means that a format does not have an option.
var ErrOption = errors.New("the format does not have the option")

// OptionError names an option that is set and that a format does not have. It wraps [ErrOption].
type OptionError struct {
	// Format is the name of the format, Option that of the option, as [Options.Only] has it.
	Format, Option string
}

// Error returns the message.
func (e *OptionError) Error() string {
	option, ok := optionTexts[e.Option]
	if !ok {
		option = fmt.Sprintf("option %q", e.Option)
	}
	return fmt.Sprintf("tableformat: a table of %s has no %s: %v", e.Format, option, ErrOption)
}

// optionTexts name options in messages. Package apiterms has those of other interfaces.
var optionTexts = map[string]string{
	"version": "option Options.Version", "snapshot": "option Options.Snapshot", "timestamp": "option Options.Timestamp", "ref": "option Options.Ref", "moved": "option Options.Moved",
}

// Unwrap returns [ErrOption].
func (e *OptionError) Unwrap() error { return ErrOption }

// Options choose the state of a table that is read. Formats refuse those that they do not have, by [Options.Only].
type Options struct {
	// Version is the number of a version, of Delta Lake.
	Version *int64
	// Snapshot is the ID of a snapshot, of Iceberg.
	Snapshot *int64
	// Timestamp chooses the state that was the current one at a time.
	Timestamp time.Time
	// Ref is the name of a branch or a tag, of Iceberg.
	Ref string
	// Moved means that the table was moved as a whole, of Iceberg.
	Moved bool
	// System has all files of the table. Nil means those of the machine, and stores that imported packages have registered.
	System fs.FS
}

// Only returns an [OptionError] if an option is set that a format does not have. The names of those that it has
// are "version", "snapshot", "timestamp", "ref" and "moved".
func (o Options) Only(format string, names ...string) error {
	for _, option := range []struct {
		name  string
		isSet bool
	}{
		{"version", o.Version != nil}, {"snapshot", o.Snapshot != nil}, {"timestamp", !o.Timestamp.IsZero()}, {"ref", o.Ref != ""}, {"moved", o.Moved},
	} {
		if option.isSet && !slices.Contains(names, option.name) {
			return &OptionError{Format: format, Option: option.name}
		}
	}
	return nil
}
