package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// tableFormats are the verbs of documents that read tables of formats.
var tableFormats = []string{"delta", "iceberg"}

// tableState has the flags of the state of a table that is read.
type tableState struct {
	version, snapshot int64
	time, ref         string
	moved             bool
	flags             *pflag.FlagSet
}

// The flags of a tableState.
const (
	versionFlag, snapshotFlag, timeFlag, refFlag, movedFlag = "table-version", "snapshot", "as-of-time", "ref", "moved"
)

func (s *tableState) addTo(flags *pflag.FlagSet) {
	s.flags = flags
	flags.Int64Var(&s.version, versionFlag, 0, "with --from delta: the version of the table")
	flags.Int64Var(&s.snapshot, snapshotFlag, 0, "with --from iceberg: the ID of a snapshot")
	flags.StringVar(&s.time, timeFlag, "", "with --from delta or iceberg: the table as it was at a time, 2026-01-31T12:30:00Z for example")
	flags.StringVar(&s.ref, refFlag, "", "with --from iceberg: a branch or a tag")
	flags.BoolVar(&s.moved, movedFlag, false, "with --from iceberg: the table was moved as a whole")
}

// unused refuses flags of tables without a format of tables.
func (s *tableState) unused() error {
	for _, name := range []string{versionFlag, snapshotFlag, timeFlag, refFlag, movedFlag} {
		if s.flags != nil && s.flags.Changed(name) {
			return fmt.Errorf("--%s is for tables: give --from with one of %s", name, strings.Join(tableFormats, ", "))
		}
	}
	return nil
}

// tableStep returns the step of a query document that reads a table.
func (in *input) tableStep(paths []string) (map[string]any, error) {
	if len(paths) != 1 {
		return nil, fmt.Errorf("--from %s has %d paths, expected that of 1 table", in.from, len(paths))
	}
	if in.delimiter != "" || in.noHeader || len(in.types) > 0 || in.inferRows != 0 {
		return nil, errors.New("--delimiter, --no-header, --types and --infer-rows are for files, and --from names a format of tables")
	}
	s, step := in.state, map[string]any{"verb": in.from, "path": paths[0]}
	for flag, member := range map[string]struct {
		name  string
		value any
	}{
		versionFlag: {"version", json.Number(strconv.FormatInt(s.version, 10))}, snapshotFlag: {"snapshot_id", json.Number(strconv.FormatInt(s.snapshot, 10))},
		timeFlag: {"timestamp", s.time}, refFlag: {"ref", s.ref}, movedFlag: {"moved", s.moved},
	} {
		if !s.flags.Changed(flag) {
			continue
		}
		if isOfIceberg := flag == snapshotFlag || flag == refFlag || flag == movedFlag; flag != timeFlag && isOfIceberg != (in.from == "iceberg") {
			return nil, fmt.Errorf("--%s is not for tables of %s", flag, in.from)
		}
		step[member.name] = member.value
	}
	if s.time != "" {
		if _, err := time.Parse(time.RFC3339Nano, s.time); err != nil {
			return nil, fmt.Errorf("--%s %q: expected a time such as 2026-01-31T12:30:00Z", timeFlag, s.time)
		}
	}
	return step, nil
}
