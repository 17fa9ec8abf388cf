/** Tokens of the sandbox that tests name. */
export const PRV = '0000000000000000000000000000000000000000000000000000000000000004';
export const BTC = 'b832e5d3b1f01a4f0623f7fe91d6673461e1f5d37d91fe78c5c2e6183ff39696';
export const ETH = 'ffd8d42dc40a8d166ea4848baf8b5f6e912ad79875f4373070b59392b1756c8f';
export const USDT = '716fd1009e2a1669caacc36891e707bfdf02590f96ebd897548e8963c95ebac0';

/** It has a pool with PRV, with BTC and with USDT, but not with ETH. */
export const XMR = 'c01e7dc1d1aba995c19b257412340b057f8ad1482ccb6a9bb0adce61afbf05d4';

/** A token that nobody has. */
export const NOBODYS = 'ab'.repeat(32);
