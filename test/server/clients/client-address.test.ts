import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { createClientAddresses } from '../../../src/server/clients/client-address.ts';

/** The client of a request with this remote address and X-Forwarded-For header. */
function clientOf(remoteAddress: string | undefined, forwardedFor?: string, trustedProxies: readonly string[] = []) {
  const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor };
  return createClientAddresses(trustedProxies).of({ socket: { remoteAddress }, headers } as unknown as IncomingMessage);
}

describe('the client of an address', () => {
  test.each([
    ['198.51.100.7', '198.51.100.7'],
    ['::ffff:198.51.100.7', '198.51.100.7'],
    ['::FFFF:C633:6407', '198.51.100.7'],
    ['0:0:0:0:0:ffff:c633:6407', '198.51.100.7'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
    ['2001:db8::', '2001:db8:0:0::/64'],
    ['2001:db8::ffff:198.51.100.7', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    [undefined, 'unknown'],
  ])('%s is %s', (address, client) => {
    expect(clientOf(address)).toBe(client);
  });

  test.each([
    [[], '198.51.100.7'],
    [['198.51.100.7'], '203.0.113.9'],
  ])('stays the same after its connection is closed, with the trusted proxies %j', (trustedProxies, client) => {
    const clients = createClientAddresses(trustedProxies);
    const sent = { socket: { remoteAddress: '198.51.100.7' }, headers: { 'x-forwarded-for': '203.0.113.9' } };
    const request = sent as unknown as IncomingMessage;
    clients.of(request);
    Object.assign(request.socket, { remoteAddress: undefined });
    expect(clients.of(request)).toBe(client);
  });
});

describe('which X-Forwarded-For is trusted', () => {
  const proxies = ['10.0.0.0/8', '2001:db8:ffff::/48'];

  test.each([
    ['none by default', '10.0.0.1', '203.0.113.9', [], '10.0.0.1'],
    ['not that of another host', '198.51.100.7', '203.0.113.9', proxies, '198.51.100.7'],
    ['that of a proxy', '10.0.0.1', '203.0.113.9', proxies, '203.0.113.9'],
    ['that of a proxy with an IPv6 address', '2001:db8:ffff::1', '2001:db8:1:2::9', proxies, '2001:db8:1:2::/64'],
    ['that of a proxy with a mapped address', '::ffff:10.0.0.1', '203.0.113.9', proxies, '203.0.113.9'],
    ['in a chain, that of the nearest trusted proxies', '10.0.0.1', '203.0.113.9, 10.9.9.9', proxies, '203.0.113.9'],
    ['not what a client wrote before the proxy', '10.0.0.1', '192.0.2.1, 203.0.113.9', proxies, '203.0.113.9'],
    ['with a port', '10.0.0.1', '203.0.113.9:4711', proxies, '203.0.113.9'],
    ['with a port after an IPv6 address', '10.0.0.1', '[2001:db8:1:2::9]:4711', proxies, '2001:db8:1:2::/64'],
    ['without a header, the address of the proxy', '10.0.0.1', undefined, proxies, '10.0.0.1'],
    ['without an address in the header, the address of the proxy', '10.0.0.1', 'unknown', proxies, '10.0.0.1'],
    ['with an invalid header, the address of the proxy', '10.0.0.1', '999.1.1.1, ::::, ,', proxies, '10.0.0.1'],
  ])('%s', (_, address, forwardedFor, trusted, client) => {
    expect(clientOf(address, forwardedFor, trusted)).toBe(client);
  });
});
