package azure

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"

	"github.com/gpuframe/gpuframe/objectstore"
)

// upload is the blocks of a blob. Blocks that are in no blob are removed by the service after a week.
type upload struct {
	name   string
	client *blockblob.Client
	id     [12]byte // the beginning of the identifiers of its blocks
}

// Create implements [objectstore.Store]: a list of blocks. It sends no request.
func (s *Store) Create(_ context.Context, name string) (objectstore.Upload, error) {
	client, at, err := s.container("write", name)
	if err != nil {
		return nil, err
	}
	u := &upload{name: name, client: client.NewBlockBlobClient(at.key)}
	_, _ = rand.Read(u.id[:]) // it never fails
	return u, nil
}

// block returns the identifier of a block. Those of a blob have the same length.
func (u *upload) block(number int) string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(u.id[:12:12], uint32(number)))
}

// mostBlocks is the number of blocks that the service accepts.
const mostBlocks = 50_000

// WritePart implements [objectstore.Upload].
func (u *upload) WritePart(ctx context.Context, number int, contents []byte) error {
	if number >= mostBlocks {
		const limit = int64(mostBlocks) * objectstore.PartBytes >> 30
		err := fmt.Errorf("the service accepts %d blocks, here %d GiB: write several objects: %w", mostBlocks, limit, errors.ErrUnsupported)
		return objectstore.NewError("write", u.name, err)
	}
	_, err := u.client.StageBlock(ctx, u.block(number), streaming.NopCloser(objectstore.Body(ctx, contents)), nil)
	return failure(ctx, "write", u.name, err)
}

// Commit implements [objectstore.Upload]. It may be repeated: the blocks of the blob are found again.
func (u *upload) Commit(ctx context.Context, parts int) error {
	list := make([]string, parts)
	for number := range list {
		list[number] = u.block(number)
	}
	_, err := u.client.CommitBlockList(ctx, list, nil)
	return failure(ctx, "write", u.name, err)
}

// Abort implements [objectstore.Upload]. It sends no request: blocks expire.
func (u *upload) Abort(context.Context) error { return nil }
