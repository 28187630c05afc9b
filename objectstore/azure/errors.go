package azure

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/gpuframe/gpuframe/objectstore"
)

var errCredentials = fmt.Errorf("%w: %w", objectstore.ErrCredentials, fs.ErrPermission)

// conditions are those of error codes, which are more precise than the status.
var conditions = map[string]error{
	"AuthenticationFailed":        errCredentials,
	"InvalidAuthenticationInfo":   errCredentials,
	"NoAuthenticationInformation": errCredentials,
	"AccountIsDisabled":           fs.ErrPermission,
	"ServerBusy":                  objectstore.ErrThrottled,
	"OperationTimedOut":           objectstore.ErrUnavailable,
	"InternalError":               objectstore.ErrUnavailable,
	"BlobNotFound":                fs.ErrNotExist,
	"ContainerNotFound":           fs.ErrNotExist,
	"ContainerBeingDeleted":       fs.ErrNotExist,
	"ResourceNotFound":            fs.ErrNotExist,
	"ConditionNotMet":             objectstore.ErrChanged,
}

// failure returns an error of the SDK as one of the store, or nil. The text of the SDK, which has URLs, is left out.
func failure(ctx context.Context, operation, name string, err error) error {
	if err == nil {
		return nil
	}
	failed := objectstore.NewError(operation, name, nil)
	var answer *azcore.ResponseError
	var token *tokenError
	switch {
	case ctx.Err() != nil:
		failed.Err = objectstore.TransportError(ctx, err)
	case errors.As(err, &token):
		failed.Err = fmt.Errorf("%s: %w", token.Error(), errCredentials)
	case errors.As(err, &answer):
		failed.Status, failed.Code = answer.StatusCode, answer.ErrorCode
		if r := answer.RawResponse; r != nil {
			failed.RequestID = r.Header.Get("X-Ms-Request-Id")
			if seconds, err := strconv.Atoi(r.Header.Get("Retry-After")); err == nil && seconds > 0 {
				failed.RetryAfter = time.Duration(seconds) * time.Second
			}
		}
		if failed.Err = conditions[failed.Code]; failed.Err == nil {
			failed.Err = objectstore.StatusError(failed.Status)
		}
		if failed.Err == nil {
			failed.Err = objectstore.ErrResponse
		}
	default:
		failed.Err = objectstore.TransportError(ctx, err)
	}
	return failed
}
