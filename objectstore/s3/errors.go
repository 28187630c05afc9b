package s3

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/gpuframe/gpuframe/objectstore"
)

// conditions are those of error codes, which are more precise than the status.
var conditions = map[string]error{
	"AuthorizationHeaderMalformed": errCredentials,
	"ExpiredToken":                 errCredentials,
	"ExpiredTokenException":        errCredentials,
	"InvalidAccessKeyId":           errCredentials,
	"InvalidToken":                 errCredentials,
	"RequestTimeTooSkewed":         errCredentials,
	"SignatureDoesNotMatch":        errCredentials,
	"TokenRefreshRequired":         errCredentials,
	"RequestLimitExceeded":         objectstore.ErrThrottled,
	"SlowDown":                     objectstore.ErrThrottled,
	"Throttling":                   objectstore.ErrThrottled,
	"ThrottlingException":          objectstore.ErrThrottled,
	"ConditionalRequestConflict":   objectstore.ErrUnavailable,
	"InternalError":                objectstore.ErrUnavailable,
	"RequestTimeout":               objectstore.ErrUnavailable,
	"NoSuchBucket":                 fs.ErrNotExist,
	"NoSuchKey":                    fs.ErrNotExist,
	"NoSuchUpload":                 fs.ErrNotExist,
	"NotFound":                     fs.ErrNotExist,
}

var errCredentials = fmt.Errorf("%w: %w", objectstore.ErrCredentials, fs.ErrPermission)

// failure returns an error of the SDK as one of the store, or nil. The message of the SDK, with the names of its parts, is
// left out.
func failure(ctx context.Context, operation, name string, err error) error {
	if err == nil {
		return nil
	}
	failed := objectstore.NewError(operation, name, nil)
	var coded smithy.APIError
	if errors.As(err, &coded) {
		failed.Code = coded.ErrorCode()
	}
	var answer *smithyhttp.ResponseError
	if errors.As(err, &answer) && answer.Response != nil {
		failed.Status = answer.HTTPStatusCode()
		failed.RequestID = answer.Response.Header.Get("X-Amz-Request-Id")
		if seconds, err := strconv.Atoi(answer.Response.Header.Get("Retry-After")); err == nil && seconds > 0 {
			failed.RetryAfter = time.Duration(seconds) * time.Second
		}
		if region := answer.Response.Header.Get("X-Amz-Bucket-Region"); region != "" && failed.Status/100 == 3 {
			failed.Err = fmt.Errorf("the bucket is in the region %s: set AWS_REGION: %w", region, objectstore.ErrResponse)
			return failed
		}
	}
	failed.Err = conditions[failed.Code]
	if failed.Err == nil && failed.Status >= 300 {
		failed.Err = objectstore.StatusError(failed.Status)
	}
	switch {
	case failed.Err != nil && coded != nil && coded.ErrorMessage() != "":
		failed.Err = fmt.Errorf("%s: %w", coded.ErrorMessage(), failed.Err)
	case failed.Err == nil && ctx.Err() == nil && strings.Contains(err.Error(), "get credentials"):
		failed.Err = fmt.Errorf("the chain of the AWS SDK has none: %w", errCredentials)
	case failed.Err == nil:
		failed.Err = objectstore.TransportError(ctx, innermost(err))
	}
	return failed
}

// innermost is the error below those of the SDK, which name operations and URLs.
func innermost(err error) error {
	var sent *smithyhttp.RequestSendError
	if errors.As(err, &sent) {
		return sent.Err
	}
	return err
}

// requestID is the identifier of an answer.
func requestID(metadata middleware.Metadata) string {
	id, _ := awsmiddleware.GetRequestIDMetadata(metadata)
	return id
}
