package study

import (
	"encoding/json"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/podproof/podproof/grader"
)

// Pack turns evidence into zstd-compressed JSON; nil evidence into nothing.
func Pack(e *grader.Evidence) ([]byte, error) {
	if e == nil {
		return nil, nil
	}
	raw, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	defer func() { _ = w.Close() }() // only frees; EncodeAll holds nothing back
	return w.EncodeAll(raw, nil), nil
}

// Unpack reads what the store keeps as evidence; nothing gives nil.
func Unpack(packed []byte) (*grader.Evidence, error) {
	if len(packed) == 0 {
		return nil, nil
	}
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	defer r.Close()
	raw, err := r.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("decompress evidence: %w", err)
	}
	e := new(grader.Evidence)
	if err := json.Unmarshal(raw, e); err != nil {
		return nil, fmt.Errorf("decode evidence: %w", err)
	}
	return e, nil
}
