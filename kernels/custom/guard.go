package custom

import (
	"errors"
	"runtime/debug"
)

// errExit is the failure of a function that ends its goroutine.
var errExit = errors.New("the function called runtime.Goexit, as t.FailNow does in a test: return an error")

// guarded calls a function of the user in a goroutine of its own, and makes an error of its panic and of
// runtime.Goexit.
func guarded[T any](f func() (T, error)) (result T, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		returned := false
		defer func() {
			if returned {
				return
			}
			err = errExit
			if value := recover(); value != nil {
				err = &PanicError{value, debug.Stack()}
			}
		}()
		result, err = f()
		returned = true
	}()
	<-done
	return result, err
}
