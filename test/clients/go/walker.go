// Walking through a client's calls: signing in, counting requests, waiting for nodes.

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/httpbasic"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/noauth"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
)

// walker goes through a client's calls, remembers how each went, and counts the requests that were sent.
type walker struct {
	api      *gophercloud.ServiceClient
	steps    []string
	failed   []string
	requests []string
	stages   []string
	calls    int
}

// does takes one step; a step may be taken several times. It answers whether it went well.
func (w *walker) does(step string, act func() error) bool {
	if err := act(); err != nil {
		w.failed = append(w.failed, fmt.Sprintf("%s: %v", step, err))
		return false
	}
	if !slices.Contains(w.steps, step) {
		w.steps = append(w.steps, step)
	}
	return true
}

// refused takes a step that must be answered with this status.
func (w *walker) refused(step string, status int, act func() error) {
	w.does(step, func() error {
		if err := act(); !gophercloud.ResponseCodeIs(err, status) {
			return fmt.Errorf("expected status %d, got: %v", status, err)
		}
		return nil
	})
}

func (w *walker) outcome() outcome {
	slices.Sort(w.requests)
	return outcome{Calls: w.calls, Steps: w.steps, Stages: w.stages, Failed: append([]string{}, w.failed...), Requests: slices.Compact(w.requests)}
}

// signIn makes the client as a program would that is configured for one of the three ways.
func (w *walker) signIn(ctx context.Context, given setting) bool {
	return w.does("sign in by "+given.Auth, func() (err error) {
		switch given.Auth {
		case "noauth":
			w.api, err = noauth.NewBareMetalNoAuth(noauth.EndpointOpts{IronicEndpoint: given.Endpoint})
		case "http_basic":
			w.api, err = httpbasic.NewBareMetalHTTPBasic(httpbasic.EndpointOpts{
				IronicEndpoint: given.Endpoint, IronicUser: given.Username, IronicUserPassword: given.Password,
			})
		case "keystone":
			w.api, err = signInByKeystone(ctx, given)
		default:
			err = fmt.Errorf("no such way to sign in")
		}
		if err != nil {
			return err
		}
		w.api.Microversion = given.Microversion
		w.api.HTTPClient = http.Client{Transport: counting{w}}
		return nil
	})
}

// signInByKeystone finds the API in the catalog of a system-scoped token.
func signInByKeystone(ctx context.Context, given setting) (*gophercloud.ServiceClient, error) {
	provider, err := openstack.AuthenticatedClient(ctx, gophercloud.AuthOptions{
		IdentityEndpoint: given.IdentityURL, Username: given.Username, Password: given.Password,
		DomainID: "default", Scope: &gophercloud.AuthScope{System: true}, AllowReauth: true,
	})
	if err != nil {
		return nil, err
	}
	return openstack.NewBareMetalV1(provider, gophercloud.EndpointOpts{})
}

// pause lies between two looks at something that changes.
const pause = 500 * time.Millisecond

// counting is a transport that tells its walker of every request.
type counting struct{ walker *walker }

// ids are what differs between two requests of a kind: UUIDs, names of nodes and of what belongs to them.
var ids = regexp.MustCompile(`/(nodes|ports|allocations|conductors|drivers|bios|vifs)/([^/?]+)`)

func (c counting) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(request)
	c.walker.calls++
	status := "no answer"
	if err == nil {
		status = response.Status[:3]
	}
	path := ids.ReplaceAllStringFunc(request.URL.Path, func(found string) string {
		parts := strings.SplitN(found, "/", 3)
		if parts[2] == "detail" {
			return found
		}
		return "/" + parts[1] + "/*"
	})
	c.walker.requests = append(c.walker.requests, fmt.Sprintf("%s %s %s", request.Method, path, status))
	return response, err
}

// comes polls until a node satisfies the condition. A client that polls sees errors of its node as they are.
func (w *walker) comes(ctx context.Context, node string, what string, there func(*nodes.Node) bool) error {
	for {
		seen, err := nodes.Get(ctx, w.api, node).Extract()
		if err != nil {
			return err
		}
		if there(seen) {
			return nil
		}
		if strings.HasSuffix(seen.ProvisionState, " failed") || seen.ProvisionState == "error" {
			return fmt.Errorf("waiting until it %s, found %q: %s", what, seen.ProvisionState, seen.LastError)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting until it %s, it is %q, heading for %q: %s", what, seen.ProvisionState, seen.TargetProvisionState, seen.LastError)
		case <-time.After(pause):
		}
	}
}

// reaches polls until a node rests in a state.
func (w *walker) reaches(ctx context.Context, node string, state nodes.ProvisionState) error {
	return w.comes(ctx, node, "is "+string(state), func(seen *nodes.Node) bool {
		return seen.ProvisionState == string(state) && seen.TargetProvisionState == "" && seen.Reservation == ""
	})
}

// orders asks for a provision state and waits until the node rests where that leads.
func (w *walker) orders(ctx context.Context, node string, opts nodes.ProvisionStateOpts, state nodes.ProvisionState) bool {
	return w.does("nodes.ChangeProvisionState", func() error {
		if err := nodes.ChangeProvisionState(ctx, w.api, node, opts).ExtractErr(); err != nil {
			return fmt.Errorf("%s: %w", opts.Target, err)
		}
		if err := w.reaches(ctx, node, state); err != nil {
			return fmt.Errorf("%s: %w", opts.Target, err)
		}
		return nil
	})
}

// same fails unless two values are equal as JSON shows them.
func same(what string, got, want any) error {
	if shown(got) != shown(want) {
		return fmt.Errorf("%s is %s, and was written as %s", what, shown(got), shown(want))
	}
	return nil
}

func shown(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
