package delta

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/gpuframe/gpuframe/lake/internal/rows"
	"github.com/gpuframe/gpuframe/lake/internal/storage"
)

// vectorAbout describes a deletion vector.
type vectorAbout struct {
	StorageType string `json:"storageType"`
	Path        string `json:"pathOrInlineDv"`
	Offset      *int64 `json:"offset"`
	Size        int64  `json:"sizeInBytes"`
	Cardinality int64  `json:"cardinality"`
}

const (
	// oldMagic begins the bytes of a deletion vector in the older form, which the example of the protocol has, in either order of bytes.
	oldMagic = 1681511376
	// mostVector is the length of a deletion vector at most.
	mostVector = 1 << 30
	// uuidDigits is the number of characters of a UUID in Z85.
	uuidDigits = 20
)

// id identifies the vector. It is empty without one.
func (v *vectorAbout) id() string {
	if v == nil {
		return ""
	}
	if v.Offset == nil {
		return v.StorageType + v.Path
	}
	return v.StorageType + v.Path + "@" + strconv.FormatInt(*v.Offset, 10)
}

// file returns the name of the file with the vector, and its offset.
func (v *vectorAbout) file(root string) (name string, offset int64, err error) {
	if v.Offset != nil {
		offset = *v.Offset
	}
	if v.StorageType == "p" {
		name, err = resolve(root, v.Path)
		return name, offset, err
	}
	if len(v.Path) < uuidDigits {
		return "", 0, fmt.Errorf("its path %q has no UUID: %w", v.Path, ErrVector)
	}
	prefix, digits := v.Path[:len(v.Path)-uuidDigits], v.Path[len(v.Path)-uuidDigits:]
	u, err := decodeZ85(digits)
	if err != nil {
		return "", 0, err
	}
	name = fmt.Sprintf("deletion_vector_%x-%x-%x-%x-%x.bin", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
	if prefix != "" {
		name = prefix + "/" + name
	}
	return storage.Join(root, name), offset, nil
}

// load reads the vector.
func (v *vectorAbout) load(ctx context.Context, from storage.Storage, root string) (*rows.Set, error) {
	if v.Size < 0 || v.Size > mostVector {
		return nil, fmt.Errorf("a deletion vector of %d bytes, the limit is %d: %w", v.Size, mostVector, errors.Join(ErrVector, ErrLimit))
	}
	switch v.StorageType {
	case "i":
		data, err := decodeZ85(v.Path)
		if err != nil {
			return nil, err
		}
		if int64(len(data)) < v.Size {
			return nil, fmt.Errorf("it has %d bytes, expected %d: %w", len(data), v.Size, ErrVector)
		}
		return v.decode(data[:v.Size])
	case "u", "p":
		name, offset, err := v.file(root)
		if err != nil {
			return nil, err
		}
		framed, err := from.ReadRange(ctx, name, offset, v.Size+8, math.MaxInt64)
		if err != nil {
			return nil, inFile(name, storage.Needed(err, ErrVector))
		}
		data, err := rows.Unframe(framed)
		if err != nil {
			return nil, inFile(name, fmt.Errorf("%w: %w", err, ErrVector))
		}
		set, err := v.decode(data)
		return set, inFile(name, err)
	}
	return nil, fmt.Errorf("the deletion vector has the storage type %q, expected u, i or p: %w", v.StorageType, ErrUnsupported)
}

// decode decodes the bytes of a vector.
func (v *vectorAbout) decode(data []byte) (*rows.Set, error) {
	set, err := parseVector(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrVector)
	}
	if set.Len() != v.Cardinality {
		return nil, fmt.Errorf("it has %d rows, in the log %d: %w", set.Len(), v.Cardinality, ErrVector)
	}
	return set, nil
}

func parseVector(data []byte) (*rows.Set, error) {
	switch {
	case len(data) < 4:
	case binary.LittleEndian.Uint32(data) == oldMagic:
		return rows.ParseList(data[4:], binary.LittleEndian)
	case binary.BigEndian.Uint32(data) == oldMagic:
		return rows.ParseList(data[4:], binary.BigEndian)
	}
	return rows.ParseVector(data)
}
