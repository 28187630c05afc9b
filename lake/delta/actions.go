package delta

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// action is a line of a commit, or a row of a checkpoint. One of its members is set, or none that this package reads.
type action struct {
	Add        *addFile    `json:"add"`
	Remove     *removeFile `json:"remove"`
	Metadata   *metadata   `json:"metaData"`
	Protocol   *protocol   `json:"protocol"`
	CommitInfo *commitInfo `json:"commitInfo"`
	Sidecar    *sidecar    `json:"sidecar"`
}

type addFile struct {
	Path            string             `json:"path"`
	PartitionValues map[string]*string `json:"partitionValues"`
	Size            int64              `json:"size"`
	Stats           string             `json:"stats"`
	Vector          *vectorAbout       `json:"deletionVector"`
}

type removeFile struct {
	Path   string       `json:"path"`
	Vector *vectorAbout `json:"deletionVector"`
}

type metadata struct {
	SchemaString     string            `json:"schemaString"`
	PartitionColumns []string          `json:"partitionColumns"`
	Configuration    map[string]string `json:"configuration"`
	Format           struct {
		Provider string `json:"provider"`
	} `json:"format"`
}

type protocol struct {
	MinReaderVersion int      `json:"minReaderVersion"`
	ReaderFeatures   []string `json:"readerFeatures"`
}

type commitInfo struct {
	InCommitTimestamp *int64 `json:"inCommitTimestamp"`
}

type sidecar struct {
	Path string `json:"path"`
}

// parseActions reads lines of JSON.
func parseActions(data []byte, visit func(action) error) error {
	for number := 1; len(data) > 0; number++ {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var a action
		if err := json.Unmarshal(line, &a); err != nil {
			return fmt.Errorf("line %d: %w: %w", number, err, ErrLog)
		}
		if err := a.check(); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		if err := visit(a); err != nil {
			return err
		}
	}
	return nil
}

func (a action) check() error {
	switch {
	case a.Add != nil && a.Add.Path == "":
		return fmt.Errorf("the action add has no path: %w", ErrLog)
	case a.Remove != nil && a.Remove.Path == "":
		return fmt.Errorf("the action remove has no path: %w", ErrLog)
	case a.Sidecar != nil && a.Sidecar.Path == "":
		return fmt.Errorf("the action sidecar has no path: %w", ErrLog)
	}
	return nil
}
