package s3_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/objecttest"
	"github.com/gpuframe/gpuframe/objectstore/s3"
)

const bucket = "s3://bucket/"

// gateway starts a server of S3, and returns its URL.
func gateway(t testing.TB) (endpoint string) {
	t.Helper()
	return objecttest.StartGateway(t).URL
}

// storeAt returns the store of an endpoint.
func storeAt(t testing.TB, endpoint, secret string) *s3.Store {
	t.Helper()
	store, err := s3.New(t.Context(), s3.Options{Endpoint: endpoint, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider(objecttest.GatewayUser, secret, "")})
	require.NoError(t, err)
	return store
}
