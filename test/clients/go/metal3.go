// Metal3: a host is registered and inspected.

package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/drivers"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/ports"
	"github.com/gophercloud/gophercloud/v2/openstack/utils"
)

// oldest is the microversion below which Metal3's operator does not start.
const oldest = 89

// since are the microversions from which it uses what it can do without.
var since = struct{ mediaShown, powerOffDisabled, health int }{93, 95, 109}

// host is one BareMetalHost on its way: the node, and the microversion that was chosen for it.
type host struct {
	*walker
	ctx   context.Context
	given setting
	minor int
	uuid  string
	// instance is what the operator calls the instance: the id of its own record.
	instance string
}

// walkMetal3 leads one host through the life that Metal3's baremetal-operator gives it, by the requests it sends. The
// operator itself cannot be had here (docs/clients.md); it sends all of them through this same library.
func walkMetal3(ctx context.Context, w *walker, given setting) {
	h := &host{walker: w, ctx: ctx, given: given, instance: given.InstanceUUID}
	stages := []struct {
		name  string
		stage func() bool
	}{
		{"starting", h.starting}, {"registering", h.registering}, {"inspecting", h.inspecting},
		{"preparing", h.preparing}, {"available", h.available}, {"provisioning", h.provisioning},
		{"provisioned", h.provisioned}, {"servicing", h.servicing}, {"deprovisioning", h.deprovisioning},
		{"externally provisioned", h.adopted}, {"deleting", h.deleting},
	}
	for _, one := range stages {
		started := time.Now()
		well := one.stage()
		w.stages = append(w.stages, fmt.Sprintf("%s %d ms", one.name, time.Since(started).Milliseconds()))
		if !well {
			w.failed = append(w.failed, fmt.Sprintf("%s: the host got no further", one.name))
			return
		}
		w.does(one.name, func() error { return nil })
	}
}

// starting is what the operator asks before anything else: whether the service is new enough and has drivers.
func (h *host) starting() bool {
	return h.does("GET /v1/", func() error {
		found, err := utils.GetSupportedMicroversions(h.ctx, h.api)
		if err != nil {
			return err
		}
		if found.MaxMajor != 1 || found.MaxMinor < oldest {
			return fmt.Errorf("1.%d is needed, %d.%d is offered", oldest, found.MaxMajor, found.MaxMinor)
		}
		_, err = fmt.Sscanf(h.given.Microversion, "1.%d", &h.minor)
		return err
	}) && h.does("GET /v1/drivers", func() error {
		page, err := drivers.ListDrivers(h.api, drivers.ListDriversOpts{Detail: false}).AllPages(h.ctx)
		if err != nil {
			return err
		}
		found, err := drivers.ExtractDrivers(page)
		if err == nil && len(found) == 0 {
			err = fmt.Errorf("no drivers")
		}
		return err
	})
}

// registering enrols the host under <namespace>~<name>, whose BMC is verified.
func (h *host) registering() bool {
	h.refused("looked up by name", 404, func() error { return nodes.Get(h.ctx, h.api, h.given.Name).Err })
	h.does("looked up by address", func() error {
		page, err := ports.List(h.api, ports.ListOpts{Address: h.given.MAC, Fields: []string{"node_uuid,uuid,address"}}).AllPages(h.ctx)
		if err != nil {
			return err
		}
		found, err := ports.ExtractPorts(page)
		if err == nil && len(found) > 0 {
			err = fmt.Errorf("%s is taken", h.given.MAC)
		}
		return err
	})
	return h.does("enrolled", h.enrol) && h.does("configured", h.configure) &&
		h.orders(h.ctx, h.uuid, nodes.ProvisionStateOpts{Target: nodes.TargetManage}, nodes.Manageable)
}

func (h *host) enrol() error {
	powerOff, enabled := false, true
	opts := nodes.CreateOpts{
		Name: h.given.Name, Driver: h.given.Driver, DriverInfo: h.given.DriverInfo,
		BootInterface: cmp.Or(h.given.BootInterface, "redfish-virtual-media"), FirmwareInterface: "redfish", InspectInterface: "agent", RAIDInterface: "redfish",
		Properties: map[string]any{"capabilities": "boot_mode:uefi", "cpu_arch": "x86_64"},
	}
	if h.minor >= since.powerOffDisabled {
		opts.DisablePowerOff = &powerOff
	}
	made, err := nodes.Create(h.ctx, h.api, opts).Extract()
	if err != nil {
		return err
	}
	h.uuid = made.UUID
	_, err = ports.Create(h.ctx, h.api, ports.CreateOpts{NodeUUID: h.uuid, Address: h.given.MAC, PXEEnabled: &enabled}).Extract()
	if err != nil {
		return err
	}
	page, err := ports.List(h.api, ports.ListOpts{NodeUUID: h.uuid, Fields: []string{"node_uuid"}}).AllPages(h.ctx)
	if err != nil {
		return err
	}
	found, err := ports.ExtractPorts(page)
	if err != nil {
		return err
	}
	return same("ports of the node", len(found), 1)
}

// configure says which ramdisk to start, and expects to read back what it wrote: it writes again whatever differs.
func (h *host) configure() error {
	changed, err := h.updates(
		add("/driver_info/deploy_iso", "http://images.example.org/ramdisk.iso"),
		add("/driver_info/kernel_append_params", "%default% console=ttyS0"),
		add("/automated_clean", true),
	)
	if err != nil {
		return err
	}
	for key, written := range h.given.DriverInfo {
		if key == "redfish_password" || key == "deploy_iso" {
			continue
		}
		if err := same("driver_info."+key, changed.DriverInfo[key], written); err != nil {
			return err
		}
	}
	if err := same("driver_info.deploy_iso", changed.DriverInfo["deploy_iso"], "http://images.example.org/ramdisk.iso"); err != nil {
		return err
	}
	if err := same("driver_info.redfish_password", changed.DriverInfo["redfish_password"], "******"); err != nil {
		return err
	}
	return same("properties", changed.Properties, map[string]any{"capabilities": "boot_mode:uefi", "cpu_arch": "x86_64"})
}

// inspecting starts the ramdisk, and reads what it found.
func (h *host) inspecting() bool {
	h.refused("not inspected yet", 404, func() error { return nodes.GetInventory(h.ctx, h.api, h.uuid).Err })
	return h.orders(h.ctx, h.uuid, nodes.ProvisionStateOpts{Target: nodes.TargetInspect}, nodes.Manageable) &&
		h.does("GET inventory", func() error {
			found, err := nodes.GetInventory(h.ctx, h.api, h.uuid).Extract()
			if err != nil {
				return err
			}
			if len(found.Inventory.Interfaces) == 0 || found.Inventory.CPU.Architecture == "" || found.Inventory.Hostname == "" {
				return fmt.Errorf("of the machine only this is known: %s", shown(found.Inventory))
			}
			return nil
		}) &&
		h.does("capabilities after inspection", func() error {
			seen, err := nodes.Get(h.ctx, h.api, h.uuid).Extract()
			if err != nil {
				return err
			}
			return same("properties.capabilities", seen.Properties["capabilities"], "boot_mode:uefi")
		})
}

// updates sends a patch as the operator builds it: add where there is a value, remove where there shall be none.
func (h *host) updates(operations ...nodes.Patch) (*nodes.Node, error) {
	return nodes.Update(h.ctx, h.api, h.uuid, slices.Clone(nodes.UpdateOpts(operations))).Extract()
}

func add(path string, value any) nodes.UpdateOperation {
	return nodes.UpdateOperation{Op: nodes.AddOp, Path: path, Value: value}
}

func remove(path string) nodes.UpdateOperation {
	return nodes.UpdateOperation{Op: nodes.RemoveOp, Path: path}
}
