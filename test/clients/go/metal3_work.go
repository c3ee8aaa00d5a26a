// Metal3: a host at work, with its power, a data image and the events of its BMC.

package main

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
)

// provisioned is the host at work: what the operator looks at, power, a data image, and events of its BMC.
func (h *host) provisioned() bool {
	h.does("instance as it was written", func() error {
		seen, err := nodes.Get(h.ctx, h.api, h.uuid).Extract()
		if err != nil {
			return err
		}
		for key, written := range instanceInfo {
			if err := same("instance_info."+key, seen.InstanceInfo[key], written); err != nil {
				return err
			}
		}
		if h.minor >= since.health && seen.Health == "" {
			return fmt.Errorf("the health of the node is not told")
		}
		return same("power, fault", []string{seen.PowerState, seen.Fault}, []string{"power on", ""})
	})
	h.softOff()
	h.powers(h.ctx, h.uuid, nodes.PowerOn, "power on")
	h.dataImage()
	h.events()
	return true
}

// softOff asks politely. A BMC that cannot is a 400, upon which the operator switches off hard.
func (h *host) softOff() {
	h.does("powered off", func() error {
		err := nodes.ChangePowerState(h.ctx, h.api, h.uuid, nodes.PowerStateOpts{Target: nodes.SoftPowerOff, Timeout: 180}).ExtractErr()
		if gophercloud.ResponseCodeIs(err, http.StatusBadRequest) {
			err = nodes.ChangePowerState(h.ctx, h.api, h.uuid, nodes.PowerStateOpts{Target: nodes.PowerOff}).ExtractErr()
		}
		if err != nil {
			return err
		}
		return h.comes(h.ctx, h.uuid, "is off", func(seen *nodes.Node) bool {
			return seen.PowerState == "power off" && seen.TargetPowerState == "" && seen.Reservation == ""
		})
	})
}

// drive is one virtual drive as the operator reads it: the reply is a bare list.
type drive struct {
	Image    string `json:"image"`
	Inserted bool   `json:"inserted"`
}

func (h *host) dataImage() {
	h.does("POST vmedia", func() error {
		return nodes.AttachVirtualMedia(h.ctx, h.api, h.uuid, nodes.AttachVirtualMediaOpts{
			DeviceType: nodes.VirtualMediaCD, ImageURL: "http://images.example.org/data.iso",
		}).ExtractErr()
	})
	shown := func() (inserted bool, err error) {
		var drives []drive
		result := nodes.GetVirtualMedia(h.ctx, h.api, h.uuid)
		if result.Err == nil {
			var text []byte
			text, err = json.Marshal(result.Body)
			if err == nil {
				err = json.Unmarshal(text, &drives)
			}
		}
		for _, one := range drives {
			inserted = inserted || one.Inserted
		}
		return inserted, errOr(result.Err, err)
	}
	if h.minor < since.mediaShown {
		h.refused("GET vmedia", 404, func() error { _, err := shown(); return err })
	} else {
		h.does("GET vmedia", func() error {
			inserted, err := shown()
			return errOr(err, same("inserted", inserted, true))
		})
	}
	h.does("DELETE vmedia", func() error {
		return nodes.DetachVirtualMedia(h.ctx, h.api, h.uuid, nodes.DetachVirtualMediaOpts{
			DeviceTypes: []nodes.VirtualMediaDeviceType{nodes.VirtualMediaCD},
		}).ExtractErr()
	})
}

func errOr(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// events are subscriptions of the host's BMC, which the operator keeps as BMCEventSubscription.
func (h *host) events() {
	var id string
	h.does("create_subscription", func() error {
		made, err := nodes.CreateSubscription(h.ctx, h.api, h.uuid, nodes.CallVendorPassthruOpts{Method: "create_subscription"},
			nodes.CreateSubscriptionOpts{Destination: "https://events.example.org/metal3", Context: "host"}).Extract()
		if err == nil {
			id = made.Id
		}
		return err
	})
	h.does("delete_subscription", func() error {
		return nodes.DeleteSubscription(h.ctx, h.api, h.uuid, nodes.CallVendorPassthruOpts{Method: "delete_subscription"},
			nodes.DeleteSubscriptionOpts{Id: id}).ExtractErr()
	})
}
