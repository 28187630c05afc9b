package sink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gpuframe/gpuframe/objectstore"
)

// remove removes objects.
func (o *objectFolder) remove(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	deleter, ok := objectstore.DeleterOf(o.store)
	if !ok {
		return fmt.Errorf("%s: the store cannot remove objects: %w", remaining(paths), errors.ErrUnsupported)
	}
	return eachOf(paths, func(path string) error { return deleter.Delete(ctx, o.prefix+path) })
}

// objectAbortTime is the time to remove an object, in addition to that of one upload: several are removed at a time.
const objectAbortTime = 100 * time.Millisecond

// abort removes the uploads, and the objects of a commit that has failed, also after the context is done. It goes on after
// errors.
func (o *objectFolder) abort(ctx context.Context) error {
	limited, stop := context.WithTimeout(context.WithoutCancel(ctx), abortTime+time.Duration(len(o.committed))*objectAbortTime)
	defer stop()
	manifestErr := o.restoreManifest(limited)
	removalErr := o.removeCommitted(limited)
	_, uploadErr := tryEach(o.objects, func(s *stagedObject) error {
		err := s.abort()
		if slices.Contains(o.committed, s.name) && errors.Is(err, fs.ErrNotExist) {
			return nil // the upload has become the object
		}
		return err
	})
	return errors.Join(manifestErr, removalErr, uploadErr)
}

// restoreManifest puts back the manifest before the commit, if that has written its own. The answer may have been lost.
func (o *objectFolder) restoreManifest(ctx context.Context) error {
	if o.manifest == nil {
		return nil
	}
	contents, err := o.read(ctx, o.manifest.manifest)
	if err == nil && bytes.Equal(contents, o.manifest.list) {
		if o.manifest.before == nil {
			err = o.remove(ctx, []string{o.manifest.manifest})
		} else {
			err = o.store.Put(ctx, o.prefix+o.manifest.manifest, o.manifest.before)
		}
	}
	if err != nil {
		return fmt.Errorf("the manifest %s may be that of the write which has failed: %w", o.manifest.manifest, err)
	}
	return nil
}

// removeCommitted removes the objects of a commit.
func (o *objectFolder) removeCommitted(ctx context.Context) error {
	var paths []string
	for _, name := range o.committed {
		paths = append(paths, strings.TrimPrefix(name, o.prefix))
	}
	failed, err := tryEach(paths, func(path string) error { return o.remove(ctx, []string{path}) })
	if err != nil {
		return fmt.Errorf("%s of the write which has failed: %w", remaining(failed), err)
	}
	return nil
}

// remaining describes objects that remain.
func remaining(paths []string) string {
	const most = 3
	names := strings.Join(paths[:min(most, len(paths))], ", ")
	if len(paths) > most {
		names += ", …"
	}
	return fmt.Sprintf("objects remain, %d (%s)", len(paths), names)
}

// eachOf calls a function for several values at a time, and returns the first error. After an error it calls no further.
func eachOf[T any](list []T, f func(T) error) error {
	slots, failed, once := make(chan struct{}, mostChanges), error(nil), sync.Once{}
	ended := make(chan struct{})
	var calls sync.WaitGroup
	for _, each := range list {
		slots <- struct{}{}
		select {
		case <-ended:
			<-slots
			continue
		default:
		}
		calls.Go(func() {
			defer func() { <-slots }()
			if err := f(each); err != nil {
				once.Do(func() {
					failed = err
					close(ended)
				})
			}
		})
	}
	calls.Wait()
	return failed
}

// tryEach calls a function for several values at a time, for all of them. It returns those with an error, in their order, and
// the first errors.
func tryEach[T any](list []T, f func(T) error) (failed []T, err error) {
	const mostErrors = 3
	results := make([]error, len(list))
	slots := make(chan struct{}, mostChanges)
	var calls sync.WaitGroup
	for i, each := range list {
		slots <- struct{}{}
		calls.Go(func() {
			defer func() { <-slots }()
			results[i] = f(each)
		})
	}
	calls.Wait()
	var reasons []error
	for i, reason := range results {
		if reason == nil {
			continue
		}
		failed = append(failed, list[i])
		if len(reasons) < mostErrors {
			reasons = append(reasons, reason)
		}
	}
	return failed, errors.Join(reasons...)
}
