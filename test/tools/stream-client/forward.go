package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/transport/spdy"
)

type forwarded struct {
	Connections int     `json:"connections"`
	Bytes       int64   `json:"bytes"`
	Ms          float64 `json:"ms"`
}

// runForward opens all connections on one SPDY connection, as kubectl does, and sends and receives on all at once.
func runForward(o options) (forwarded, error) {
	transport, upgrader, err := spdy.RoundTripperFor(o.config)
	if err != nil {
		return forwarded{}, err
	}
	dialer := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, "POST", o.target)
	conn, _, err := dialer.Dial("portforward.k8s.io")
	if err != nil {
		return forwarded{}, err
	}
	defer conn.Close()
	began := time.Now()
	results := make(chan error)
	for i := range o.connections {
		go func() { results <- echo(conn, o, i) }()
	}
	for range o.connections {
		if err := <-results; err != nil {
			return forwarded{}, err
		}
	}
	ms := float64(time.Since(began).Microseconds()) / 1000
	return forwarded{o.connections, o.bytes * int64(o.connections), ms}, nil
}

func echo(conn httpstream.Connection, o options, id int) error {
	headers := http.Header{}
	headers.Set(core.PortHeader, strconv.Itoa(o.port))
	headers.Set(core.PortForwardRequestIDHeader, strconv.Itoa(id))
	headers.Set(core.StreamType, core.StreamTypeError)
	problems, err := conn.CreateStream(headers)
	if err != nil {
		return err
	}
	problems.Close() // nothing is sent on it
	defer conn.RemoveStreams(problems)
	headers.Set(core.StreamType, core.StreamTypeData)
	data, err := conn.CreateStream(headers)
	if err != nil {
		return err
	}
	defer conn.RemoveStreams(data)
	said := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(problems)
		said <- string(text)
	}()
	sent, got := sha256.New(), sha256.New()
	go func() {
		block := bytes.Repeat([]byte{byte(id + 1), 7, 42, 0}, 8<<10)
		for left := o.bytes; left > 0; left -= int64(len(block)) {
			if left < int64(len(block)) {
				block = block[:left]
			}
			sent.Write(block)
			if _, err := data.Write(block); err != nil {
				return
			}
		}
	}()
	n, err := io.CopyN(got, data, o.bytes)
	if err != nil {
		return fmt.Errorf("connection %d: %d of %d bytes came back: %w; error stream: %q", id, n, o.bytes, err, <-said)
	}
	if !bytes.Equal(sent.Sum(nil), got.Sum(nil)) {
		return fmt.Errorf("connection %d: other bytes came back", id)
	}
	return data.Reset()
}
