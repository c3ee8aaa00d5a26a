// The library: what the service says of itself, and nodes as records.

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/apiversions"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/conductors"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/drivers"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
)

// walkGophercloud calls every function of the library's bare-metal packages on one machine; a step is named after the
// function, so that a test can tell which were not called.
func walkGophercloud(ctx context.Context, w *walker, given setting) {
	w.service(ctx, given)
	node, ok := w.enrols(ctx, given)
	if !ok {
		return
	}
	w.fields(ctx, given, node)
	w.ports(ctx, given, node)
	if !w.orders(ctx, node, nodes.ProvisionStateOpts{Target: nodes.TargetManage}, nodes.Manageable) {
		return
	}
	w.machine(ctx, node)
	w.settings(ctx, node)
	w.media(ctx, node)
	w.subscriptions(ctx, node)
	w.lifecycle(ctx, given, node)
	w.does("nodes.Delete", func() error { return nodes.Delete(ctx, w.api, node).ExtractErr() })
	w.refused("nodes.Get", 404, func() error { return nodes.Get(ctx, w.api, node).Err })
}

// service looks at what the service says of itself.
func (w *walker) service(ctx context.Context, given setting) {
	// Versions are told above the endpoint of one of them.
	root := *w.api
	root.ResourceBase = strings.TrimSuffix(root.ResourceBaseURL(), "v1/")
	w.does("apiversions.List", func() error {
		found, err := apiversions.List(ctx, &root).Extract()
		if err == nil && len(found.Versions) == 0 {
			err = fmt.Errorf("no versions")
		}
		return err
	})
	w.does("apiversions.Get", func() error {
		found, err := apiversions.Get(ctx, &root, "v1").Extract()
		if err == nil && found.ID != "v1" {
			err = fmt.Errorf("version %q", found.ID)
		}
		return err
	})
	w.does("drivers.ListDrivers", func() error {
		page, err := drivers.ListDrivers(w.api, drivers.ListDriversOpts{Detail: true}).AllPages(ctx)
		if err != nil {
			return err
		}
		found, err := drivers.ExtractDrivers(page)
		if err == nil && !slices.ContainsFunc(found, func(one drivers.Driver) bool { return one.Name == given.Driver }) {
			err = fmt.Errorf("no driver %s", given.Driver)
		}
		return err
	})
	w.does("drivers.GetDriverDetails", func() error {
		found, err := drivers.GetDriverDetails(ctx, w.api, given.Driver).Extract()
		if err == nil && len(found.EnabledInspectInterfaces) == 0 {
			err = fmt.Errorf("no inspect interfaces")
		}
		return err
	})
	w.does("drivers.GetDriverProperties", func() error {
		_, err := drivers.GetDriverProperties(ctx, w.api, given.Driver).Extract()
		return err
	})
	w.does("drivers.GetDriverDiskProperties", func() error {
		_, err := drivers.GetDriverDiskProperties(ctx, w.api, given.Driver).Extract()
		return err
	})
	w.does("drivers.ListVendorPassthruMethods", func() error {
		_, err := drivers.ListVendorPassthruMethods(ctx, w.api, given.Driver).Extract()
		return err
	})
	w.does("conductors.List", func() error {
		page, err := conductors.List(w.api, conductors.ListOpts{Detail: true}).AllPages(ctx)
		if err != nil {
			return err
		}
		found, err := conductors.ExtractConductors(page)
		if err != nil || len(found) == 0 {
			return fmt.Errorf("%d conductors: %w", len(found), err)
		}
		w.does("conductors.Get", func() error {
			one, err := conductors.Get(ctx, w.api, found[0].Hostname).Extract()
			if err == nil && !one.Alive {
				err = fmt.Errorf("%s is not alive", one.Hostname)
			}
			return err
		})
		return nil
	})
}

func (w *walker) enrols(ctx context.Context, given setting) (uuid string, ok bool) {
	ok = w.does("nodes.Create", func() error {
		made, err := nodes.Create(ctx, w.api, nodes.CreateOpts{
			Name: given.Name, Driver: given.Driver, DriverInfo: given.DriverInfo, ResourceClass: given.ResourceClass,
			Extra: map[string]any{"rack": "12", "slots": []int{3, 4}}, Properties: map[string]any{"cpu_arch": "x86_64"},
		}).Extract()
		if err == nil {
			uuid = made.UUID
		}
		return err
	})
	return uuid, ok
}

// fields reads a node in every way, and changes what can be changed.
func (w *walker) fields(ctx context.Context, given setting, node string) {
	w.does("nodes.Get", func() error {
		for _, ident := range []string{node, given.Name} {
			found, err := nodes.Get(ctx, w.api, ident).Extract()
			if err != nil {
				return err
			}
			if found.UUID != node || found.ProvisionState != string(nodes.Enroll) {
				return fmt.Errorf("%s is %s in %s", ident, found.UUID, found.ProvisionState)
			}
		}
		return nil
	})
	listed := func(pageOf func() ([]nodes.Node, error)) func() error {
		return func() error {
			found, err := pageOf()
			if err == nil && !slices.ContainsFunc(found, func(one nodes.Node) bool { return one.UUID == node }) {
				err = fmt.Errorf("the node is not among %d", len(found))
			}
			return err
		}
	}
	w.does("nodes.List", listed(func() ([]nodes.Node, error) {
		page, err := nodes.List(w.api, nodes.ListOpts{Driver: given.Driver, Fields: []string{"uuid", "name", "owner"}}).AllPages(ctx)
		if err != nil {
			return nil, err
		}
		return nodes.ExtractNodes(page)
	}))
	w.does("nodes.ListDetail", listed(func() ([]nodes.Node, error) {
		page, err := nodes.ListDetail(w.api, nodes.ListOpts{ResourceClass: given.ResourceClass, SortKey: "name", SortDir: "desc"}).AllPages(ctx)
		if err != nil {
			return nil, err
		}
		return nodes.ExtractNodes(page)
	}))
	w.does("nodes.Update", func() error {
		changed, err := nodes.Update(ctx, w.api, node, nodes.UpdateOpts{
			nodes.UpdateOperation{Op: nodes.ReplaceOp, Path: "/properties", Value: map[string]any{"root_gb": 25}},
			nodes.UpdateOperation{Op: nodes.AddOp, Path: "/extra/tier", Value: "one"},
			nodes.UpdateOperation{Op: nodes.RemoveOp, Path: "/extra/rack"},
		}).Extract()
		if err != nil {
			return err
		}
		return same("extra", changed.Extra, map[string]any{"slots": []int{3, 4}, "tier": "one"})
	})
	w.refused("nodes.Update", 400, func() error {
		return nodes.Update(ctx, w.api, node, nodes.UpdateOpts{
			nodes.UpdateOperation{Op: nodes.ReplaceOp, Path: "/driver", Value: "no-such-driver"},
		}).Err
	})
	w.refused("nodes.Create", 409, func() error {
		return nodes.Create(ctx, w.api, nodes.CreateOpts{Name: given.Name, Driver: given.Driver}).Err
	})
}
