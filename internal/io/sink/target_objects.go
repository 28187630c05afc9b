package sink

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe/internal/io/hive"
	"github.com/gpuframe/gpuframe/objectstore"
)

// objectFolder is the objects of a store below a URL. Objects are uploads without their last request until the commit.
type objectFolder struct {
	ctx    context.Context
	store  objectstore.Store
	prefix string // it ends with a slash
	slots  chan struct{}
	// objects are those that were begun, committed the names of those that may exist.
	objects   []*stagedObject
	committed []string
	// manifest is the change of the manifest that was tried, or nil.
	manifest *change
}

// mostFolderParts is the number of parts that are sent at a time, of all objects of a folder.
const mostFolderParts = 8

// mostChanges is the number of objects that are committed or removed at a time.
const mostChanges = 16

func newObjectFolder(ctx context.Context, store objectstore.Store, folder string) *objectFolder {
	return &objectFolder{ctx: ctx, store: store, prefix: strings.TrimRight(folder, "/") + "/", slots: make(chan struct{}, mostFolderParts)}
}

func (o *objectFolder) list(ctx context.Context) (paths []string, err error) {
	for token := ""; ; {
		page, next, err := o.store.List(ctx, o.prefix, token)
		if err != nil {
			return nil, err
		}
		for _, each := range page {
			path := strings.TrimPrefix(each.Name, o.prefix)
			if path != "" && !strings.HasSuffix(path, "/") && !hive.Hidden(path) {
				paths = append(paths, path)
			}
		}
		if token = next; token == "" {
			return paths, nil
		}
	}
}

func (o *objectFolder) canRemove() bool {
	_, ok := objectstore.DeleterOf(o.store)
	return ok
}

func (o *objectFolder) read(ctx context.Context, name string) ([]byte, error) {
	object, err := o.store.Stat(ctx, o.prefix+name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	contents := make([]byte, object.Size)
	if err := o.store.ReadRange(ctx, object, contents, 0); err != nil {
		return nil, err
	}
	return contents, nil
}

func (o *objectFolder) create(path string) (stagedFile, error) {
	object := &stagedObject{newObjectWriter(o.ctx, o.store, o.prefix+path), false}
	object.slots = o.slots
	o.objects = append(o.objects, object)
	return object, nil
}

// stagedObject is an object that commit makes.
type stagedObject struct {
	*objectWriter
	finished bool
}

// finish sends the last part. The objects of a write are too many to keep parts in memory.
func (s *stagedObject) finish() error {
	if len(s.part) > 0 {
		if err := s.send(); err != nil {
			return err
		}
	}
	s.sending.Wait()
	s.finished = true
	return s.failure()
}

func (s *stagedObject) close() error {
	s.stop(context.Canceled)
	return nil
}

// make makes the object.
func (s *stagedObject) make() error {
	defer s.stop(nil)
	if s.upload == nil { // it is empty
		return s.store.Put(s.ctx, s.name, nil)
	}
	return s.upload.Commit(s.ctx, s.parts)
}

func (o *objectFolder) commit(ctx context.Context, c change) error {
	objects := slices.DeleteFunc(slices.Clone(o.objects), func(s *stagedObject) bool { return !s.finished })
	for _, each := range objects {
		o.committed = append(o.committed, each.name)
	}
	err := eachOf(objects, func(s *stagedObject) error { return s.make() })
	if err == nil && c.manifest != "" {
		o.manifest = &c
		err = o.store.Put(ctx, o.prefix+c.manifest, c.list)
	}
	if err != nil {
		return err
	}
	o.objects, o.committed, o.manifest = nil, nil, nil
	if err := o.remove(ctx, c.removed); err != nil {
		return fmt.Errorf("the new objects are complete, but those before them were not all removed: %w", err)
	}
	return nil
}
