package objectstore

import (
	"context"
	"time"
)

// Object describes an object.
type Object struct {
	// Name is the URL of the object.
	Name string
	Size int64
	// ETag is the version of the contents. Empty means that the store has none.
	ETag string
	// Modified is the time of the last change, or zero.
	Modified time.Time
}

// Store reads, lists and writes objects. Names are whole URLs. All methods are safe for concurrent use, and end with their context.
// A method that the store does not have returns an error that wraps [errors.ErrUnsupported]. Stores read answers with
// [ReadFull] and send a [Body], so that requests over slow connections are not given up, and make errors with [NewError].
type Store interface {
	// Stat describes an object, or an error that wraps [fs.ErrNotExist].
	Stat(ctx context.Context, name string) (Object, error)
	// ReadRange fills a slice with the bytes of an object from an offset on. They are within its size. It is an error that
	// wraps [ErrChanged] if the contents have another ETag than the object.
	ReadRange(ctx context.Context, object Object, into []byte, offset int64) error
	// List returns the objects with a prefix of their names, in the order of their names, and a token for the next page.
	// The token of the first page, and the one behind the last page, are empty.
	List(ctx context.Context, prefix, token string) (page []Object, next string, err error)
	// Put writes an object, which appears with all of its contents. It replaces another one.
	Put(ctx context.Context, name string, contents []byte) error
	// Create begins to write an object by parts.
	Create(ctx context.Context, name string) (Upload, error)
}

// Upload is an object that is written by parts. It appears with Commit, and replaces another one.
type Upload interface {
	// WritePart writes a part. Numbers begin with 0. Parts may be written at the same time and in any order, and again
	// after a failure. All but the last one have [PartBytes].
	WritePart(ctx context.Context, number int, contents []byte) error
	// Commit makes the object of parts that were written: those of the numbers below a count. After an error the object may
	// exist: the store has made it, and its answer was lost.
	Commit(ctx context.Context, parts int) error
	// Abort removes the parts. It may be called after a failed Commit.
	Abort(ctx context.Context) error
}

// Deleter is a store that removes objects, as writes to folders that replace files need it.
type Deleter interface {
	// Delete removes an object. It is no error if there is no object of the name.
	Delete(ctx context.Context, name string) error
}

// DeleterOf returns the Deleter of a store, also of one of [WithRetry], or false.
func DeleterOf(store Store) (Deleter, bool) {
	if repeating, ok := store.(*retrying); ok {
		inner, ok := repeating.store.(Deleter)
		return &retryingDeleter{repeating, inner}, ok
	}
	deleter, ok := store.(Deleter)
	return deleter, ok
}

// Exclusive is a store with conditional writes, by which writers of tables find that another one was faster.
type Exclusive interface {
	// PutNew writes an object, which appears with all of its contents. It is an error that wraps [fs.ErrExist] if there is one
	// of the name. A repeated request whose first answer was lost gets that error for its own object.
	PutNew(ctx context.Context, name string, contents []byte) error
}

// ExclusiveOf returns the Exclusive of a store, also of one of [WithRetry], or false.
func ExclusiveOf(store Store) (Exclusive, bool) {
	if repeating, ok := store.(*retrying); ok {
		inner, ok := repeating.store.(Exclusive)
		return &retryingExclusive{repeating, inner}, ok
	}
	exclusive, ok := store.(Exclusive)
	return exclusive, ok
}

// PartBytes is the length of the parts of an upload. S3 has up to 10,000 parts, which are 156 GiB.
const PartBytes = 16 << 20
