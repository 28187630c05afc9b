// Package s3 reads and writes objects of Amazon S3, and of stores with its interface: it registers the scheme s3 for
// queries. Import it for that:
//
//	import _ "github.com/gpuframe/gpuframe/objectstore/s3"
//
//	gpu.Parquet("s3://bucket/sales/year=*/*.parquet")
//
// Credentials, the region and the endpoint are those of the usual chain of the AWS SDK: the environment (AWS_ACCESS_KEY_ID,
// AWS_REGION, AWS_PROFILE, AWS_ENDPOINT_URL and so on), the shared files, web identities, containers and instances. With
// AWS_SKIP_SIGNATURE=true requests have no signature, as for public buckets. [New] takes them from a program.
package s3

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go/logging"

	"github.com/gpuframe/gpuframe/objectstore"
	"github.com/gpuframe/gpuframe/objectstore/https"
)

var registered = objectstore.Register("s3", func() (objectstore.Store, error) { return New(context.Background(), Options{}) })

// Registered returns the error of registering the scheme: another package has taken it. Otherwise it returns nil.
func Registered() error { return registered }

// Options describe a store. The zero value is that of the environment.
type Options struct {
	// Region is the region of the buckets. Empty means that of the environment, or us-east-1.
	Region string
	// Endpoint is the URL of the store. Empty means that of the environment, or of Amazon. Buckets are part of the path with
	// an endpoint, and of the host name without one.
	Endpoint string
	// VirtualHosts makes buckets a part of the host name of the endpoint, too.
	VirtualHosts bool
	// Credentials are used instead of those of the environment.
	Credentials aws.CredentialsProvider
	// Anonymous sends requests without a signature.
	Anonymous bool
	// RequesterPays accepts the cost of requests to buckets for which requesters pay.
	RequesterPays bool
	// Client sends requests. Nil means one that keeps connections open.
	Client *http.Client
}

// Store is the objects of buckets. Names are s3://bucket/key; keys are not escaped. See [objectstore.Store].
type Store struct {
	client *s3.Client
	payer  types.RequestPayer
}

// New returns a store. It sends no request.
func New(ctx context.Context, options Options) (*Store, error) {
	var client aws.HTTPClient = options.Client
	if options.Client == nil { // one to which the SDK adds the certificates of AWS_CA_BUNDLE
		client = awshttp.NewBuildableClient().WithTransportOptions(https.Adapt)
	}
	load := []func(*config.LoadOptions) error{
		config.WithHTTPClient(client),
		config.WithRetryer(func() aws.Retryer { return aws.NopRetryer{} }),
		config.WithRequestChecksumCalculation(aws.RequestChecksumCalculationWhenRequired),
		config.WithResponseChecksumValidation(aws.ResponseChecksumValidationWhenRequired),
	}
	if options.Region != "" {
		load = append(load, config.WithRegion(options.Region))
	}
	if options.Credentials != nil {
		load = append(load, config.WithCredentialsProvider(options.Credentials))
	}
	if options.Anonymous || options.Credentials == nil && strings.EqualFold(os.Getenv("AWS_SKIP_SIGNATURE"), "true") {
		load = append(load, config.WithCredentialsProvider(aws.AnonymousCredentials{}))
	}
	load = append(load, config.WithLogger(logging.Nop{})) // it writes warnings to standard error, also of machines without metadata
	settings, err := config.LoadDefaultConfig(ctx, load...)
	if err != nil {
		return nil, fmt.Errorf("read the settings of the AWS SDK: %w: %w", err, objectstore.ErrCredentials)
	}
	if settings.Region == "" {
		settings.Region = "us-east-1"
	}
	s := &Store{client: s3.NewFromConfig(settings, func(o *s3.Options) {
		if options.Endpoint != "" {
			o.BaseEndpoint = aws.String(options.Endpoint)
		}
		o.UsePathStyle = o.BaseEndpoint != nil && !options.VirtualHosts
		o.DisableLogOutputChecksumValidationSkipped = true
	})}
	if options.RequesterPays {
		s.payer = types.RequestPayerRequester
	}
	return s, nil
}

// location is the bucket and the key of a name, or of the beginning of names.
type location struct{ scheme, bucket, key string }

func locationOf(operation, name string) (l location, err error) {
	scheme, rest, ok := strings.Cut(name, "://")
	bucket, key, slash := strings.Cut(rest, "/")
	if !ok || bucket == "" || !slash {
		err := fmt.Errorf("expected a URL such as s3://bucket/key: %w", objectstore.ErrResponse)
		return location{}, objectstore.NewError(operation, name, err)
	}
	return location{scheme, bucket, key}, nil
}

// Stat implements [objectstore.Store].
func (s *Store) Stat(ctx context.Context, name string) (objectstore.Object, error) {
	at, err := locationOf("stat", name)
	if err != nil {
		return objectstore.Object{}, err
	}
	head, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &at.bucket, Key: &at.key, RequestPayer: s.payer})
	if err != nil {
		return objectstore.Object{}, failure(ctx, "stat", name, err)
	}
	return objectstore.Object{
		Name:     name,
		Size:     aws.ToInt64(head.ContentLength),
		ETag:     aws.ToString(head.ETag),
		Modified: aws.ToTime(head.LastModified),
	}, nil
}

// ReadRange implements [objectstore.Store].
func (s *Store) ReadRange(ctx context.Context, object objectstore.Object, into []byte, offset int64) error {
	at, err := locationOf("read", object.Name)
	if err != nil || len(into) == 0 {
		return err
	}
	input := &s3.GetObjectInput{
		Bucket:       &at.bucket,
		Key:          &at.key,
		RequestPayer: s.payer,
		Range:        aws.String(fmt.Sprintf("bytes=%d-%d", offset, offset+int64(len(into))-1)),
	}
	if object.ETag != "" {
		input.IfMatch = &object.ETag
	}
	answer, err := s.client.GetObject(ctx, input)
	if err != nil {
		return failure(ctx, "read", object.Name, err)
	}
	defer answer.Body.Close()
	fail := func(err error) error {
		failed := objectstore.NewError("read", object.Name, err)
		failed.RequestID = requestID(answer.ResultMetadata)
		return failed
	}
	if etag := aws.ToString(answer.ETag); object.ETag != "" && etag != "" && etag != object.ETag {
		return fail(objectstore.ErrChanged) // of stores that do not compare it
	}
	if begin := fmt.Sprintf("bytes %d-", offset); !strings.HasPrefix(aws.ToString(answer.ContentRange), begin) {
		return fail(fmt.Errorf("the answer is another range: %w", objectstore.ErrResponse))
	}
	n, err := objectstore.ReadFull(ctx, answer.Body, into)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fail(fmt.Errorf("%d of %d bytes from byte %d on: %w", n, len(into), offset, objectstore.ErrTruncated))
	case err != nil:
		return fail(objectstore.TransportError(ctx, err))
	}
	return nil
}

// List implements [objectstore.Store].
func (s *Store) List(ctx context.Context, prefix, token string) (page []objectstore.Object, next string, err error) {
	at, err := locationOf("list", prefix)
	if err != nil {
		return nil, "", err
	}
	input := &s3.ListObjectsV2Input{Bucket: &at.bucket, Prefix: &at.key, RequestPayer: s.payer}
	if token != "" {
		input.ContinuationToken = &token
	}
	answer, err := s.client.ListObjectsV2(ctx, input)
	if err != nil {
		return nil, "", failure(ctx, "list", prefix, err)
	}
	for _, each := range answer.Contents {
		page = append(page, objectstore.Object{
			Name:     at.scheme + "://" + at.bucket + "/" + aws.ToString(each.Key),
			Size:     aws.ToInt64(each.Size),
			ETag:     aws.ToString(each.ETag),
			Modified: aws.ToTime(each.LastModified),
		})
	}
	if !aws.ToBool(answer.IsTruncated) {
		return page, "", nil
	}
	if next = aws.ToString(answer.NextContinuationToken); next == "" || next == token {
		err := fmt.Errorf("the list goes on, and its token is empty or repeated: %w", objectstore.ErrResponse)
		failed := objectstore.NewError("list", prefix, err)
		failed.RequestID = requestID(answer.ResultMetadata)
		return nil, "", failed
	}
	return page, next, nil
}

// Put implements [objectstore.Store].
func (s *Store) Put(ctx context.Context, name string, contents []byte) error {
	return s.put(ctx, name, contents, nil)
}

// PutNew implements [objectstore.Exclusive]. Compatible stores that ignore If-None-Match replace the object.
func (s *Store) PutNew(ctx context.Context, name string, contents []byte) error {
	err := s.put(ctx, name, contents, aws.String("*"))
	var failed *objectstore.Error
	if errors.As(err, &failed) && failed.Status == http.StatusPreconditionFailed {
		failed.Err = fs.ErrExist
	}
	return err
}

func (s *Store) put(ctx context.Context, name string, contents []byte, ifNoneMatch *string) error {
	at, err := locationOf("write", name)
	if err != nil {
		return err
	}
	_, err = s.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket:        &at.bucket,
		Key:           &at.key,
		RequestPayer:  s.payer,
		Body:          objectstore.Body(ctx, contents),
		ContentLength: aws.Int64(int64(len(contents))),
		IfNoneMatch:   ifNoneMatch,
	})
	return failure(ctx, "write", name, err)
}

// Delete implements [objectstore.Deleter].
func (s *Store) Delete(ctx context.Context, name string) error {
	at, err := locationOf("delete", name)
	if err != nil {
		return err
	}
	_, err = s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &at.bucket, Key: &at.key, RequestPayer: s.payer})
	if failed := failure(ctx, "delete", name, err); failed != nil && !errors.Is(failed, fs.ErrNotExist) {
		return failed
	}
	return nil
}

// Create implements [objectstore.Store]: an upload of several parts.
func (s *Store) Create(ctx context.Context, name string) (objectstore.Upload, error) {
	at, err := locationOf("write", name)
	if err != nil {
		return nil, err
	}
	created, err := s.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
		Bucket:       &at.bucket,
		Key:          &at.key,
		RequestPayer: s.payer,
	})
	if err != nil {
		return nil, failure(ctx, "write", name, err)
	}
	return &upload{store: s, name: name, at: at, id: created.UploadId, etags: map[int]*string{}}, nil
}

// upload is an upload of several parts.
type upload struct {
	store *Store
	name  string
	at    location
	id    *string

	mu    sync.Mutex
	etags map[int]*string // of the parts
	// tried reports that a Commit has failed: it may have been carried out, and its answer lost.
	tried bool
}

// mostParts is the number of parts that S3 accepts.
const mostParts = 10_000

// WritePart implements [objectstore.Upload].
func (u *upload) WritePart(ctx context.Context, number int, contents []byte) error {
	if number >= mostParts {
		const limit = int64(mostParts) * objectstore.PartBytes >> 30
		err := fmt.Errorf("S3 accepts %d parts, here %d GiB: write several objects: %w", mostParts, limit, errors.ErrUnsupported)
		return objectstore.NewError("write", u.name, err)
	}
	part, err := u.store.client.UploadPart(ctx, &s3.UploadPartInput{
		Bucket:        &u.at.bucket,
		Key:           &u.at.key,
		UploadId:      u.id,
		RequestPayer:  u.store.payer,
		PartNumber:    aws.Int32(int32(number + 1)),
		Body:          objectstore.Body(ctx, contents),
		ContentLength: aws.Int64(int64(len(contents))),
	})
	if err != nil {
		return failure(ctx, "write", u.name, err)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.etags[number] = part.ETag
	return nil
}

// Commit implements [objectstore.Upload].
func (u *upload) Commit(ctx context.Context, parts int) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	list := make([]types.CompletedPart, parts)
	for number := range list {
		list[number] = types.CompletedPart{ETag: u.etags[number], PartNumber: aws.Int32(int32(number + 1))}
	}
	_, err := u.store.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket:          &u.at.bucket,
		Key:             &u.at.key,
		UploadId:        u.id,
		RequestPayer:    u.store.payer,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: list},
	})
	err = failure(ctx, "write", u.name, err)
	if again := u.tried; err != nil {
		u.tried = true
		if again && errors.Is(err, fs.ErrNotExist) {
			return u.committed(ctx, list, err)
		}
	}
	return err
}

// committed returns nil if the object consists of the parts, which its ETag shows by the digest of theirs, or the error of the
// upload. If the store does not answer, it returns that error, so that Commit is repeated.
func (u *upload) committed(ctx context.Context, parts []types.CompletedPart, missing error) error {
	var digests []byte
	for _, part := range parts {
		digest, err := hex.DecodeString(strings.Trim(aws.ToString(part.ETag), `"`))
		if err != nil {
			return missing
		}
		digests = append(digests, digest...)
	}
	object, err := u.store.Stat(ctx, u.name)
	switch {
	case err == nil && strings.Trim(object.ETag, `"`) == fmt.Sprintf("%x-%d", md5.Sum(digests), len(parts)):
		return nil
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return missing
	}
	return err
}

// Abort implements [objectstore.Upload].
func (u *upload) Abort(ctx context.Context) error {
	_, err := u.store.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{
		Bucket:       &u.at.bucket,
		Key:          &u.at.key,
		UploadId:     u.id,
		RequestPayer: u.store.payer,
	})
	return failure(ctx, "write", u.name, err)
}

var _ objectstore.Store = (*Store)(nil)

// Location implements [objectstore.Located]: the endpoint, or the region of AWS.
func (s *Store) Location() string {
	options := s.client.Options()
	if options.BaseEndpoint != nil {
		return objectstore.Display(*options.BaseEndpoint)
	}
	return "aws " + options.Region
}

var _ objectstore.Located = (*Store)(nil)
