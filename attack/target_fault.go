package attack

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// The faults that an attempt on a Target can meet, by kind: so few that a run of any length can count them.
const (
	faultConnection uint8 = iota // of the connection, and none of those below
	faultRefused
	faultReset // by the other side, before the answer was complete
	faultTimeout
	faultDeadline // of the request, which the client gave up
	faultTLS
	faultName // the host cannot be found
	faultPublic
	faultHTTP // what came is no HTTP
	fault4xx
	fault500
	fault502
	fault503
	fault504
	fault5xx
	faultKinds
)

// faultNames are the kinds as the report writes them.
var faultNames = [faultKinds]string{
	"connection", "refused", "reset", "time-out", "deadline", "tls", "unknown-host", "public-address", "no-http",
	"status-4xx", "status-500", "status-502", "status-503", "status-504", "status-5xx",
}

// faultOf is the kind of an error of the transport.
func faultOf(err error) uint8 {
	var (
		timeout interface{ Timeout() bool }
		name    *net.DNSError
		public  publicError
		record  tls.RecordHeaderError
		alert   tls.AlertError
		check   *tls.CertificateVerificationError
		issuer  x509.UnknownAuthorityError
		host    x509.HostnameError
		invalid x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &public):
		return faultPublic
	case errors.As(err, &name):
		return faultName
	case errors.As(err, &record), errors.As(err, &alert), errors.As(err, &check), errors.As(err, &issuer),
		errors.As(err, &host), errors.As(err, &invalid), errors.Is(err, http.ErrSchemeMismatch), strings.Contains(err.Error(), "tls: "):
		return faultTLS
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return faultTimeout
	case errors.Is(err, syscall.ECONNREFUSED):
		return faultRefused
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		strings.Contains(err.Error(), "server closed"): // net/http keeps that error to itself
		return faultReset
	case strings.Contains(err.Error(), "malformed HTTP"):
		return faultHTTP
	}
	return faultConnection
}

// faultOfStatus is the kind of an answer that is an error.
func faultOfStatus(status int) uint8 {
	switch {
	case status < 500:
		return fault4xx
	case status == http.StatusInternalServerError:
		return fault500
	case status == http.StatusBadGateway:
		return fault502
	case status == http.StatusServiceUnavailable:
		return fault503
	case status == http.StatusGatewayTimeout:
		return fault504
	}
	return fault5xx
}

// recordedFault is the kind of a recorded error, of which only the text is left.
func recordedFault(res *vegeta.Result) uint8 {
	if res.Code >= 400 {
		return faultOfStatus(int(res.Code))
	}
	for _, sign := range []struct {
		text string
		kind uint8
	}{
		{errLeft.Error(), faultDeadline}, {"deadline exceeded", faultTimeout}, {"imeout", faultTimeout}, {"connection refused", faultRefused},
		{"connection reset", faultReset}, {"broken pipe", faultReset}, {"EOF", faultReset}, {"server closed", faultReset},
		{"no such host", faultName}, {"x509: ", faultTLS}, {"tls: ", faultTLS}, {"malformed HTTP", faultHTTP},
	} {
		if strings.Contains(res.Error, sign.text) {
			return sign.kind
		}
	}
	return faultConnection
}
