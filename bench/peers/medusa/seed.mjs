/** Fills an empty Medusa shop: `medusa exec seed.mjs`. Prints a line with the ids that a customer needs. */
import { ContainerRegistrationKeys, Modules } from '@medusajs/framework/utils';
import flows from '@medusajs/medusa/core-flows';

const PRODUCTS_PER_BATCH = 50;
const CURRENCY = 'idr';

export default async function seed({ container }) {
  const run = async (workflow, input) => (await flows[workflow](container).run({ input })).result;
  const query = container.resolve(ContainerRegistrationKeys.QUERY);
  const link = container.resolve(ContainerRegistrationKeys.LINK);
  const read = async (entity, fields) => (await query.graph({ entity, fields })).data;

  const [channel] = await read('sales_channel', ['id']);
  const [key] = await read('api_key', ['id', 'token', 'type']);
  const [region] = await run('createRegionsWorkflow', {
    regions: [
      {
        name: 'Indonesia',
        currency_code: CURRENCY,
        countries: ['id'],
        payment_providers: ['pp_system_default'],
      },
    ],
  });
  await run('createTaxRegionsWorkflow', [
    {
      country_code: 'id',
      provider_id: 'tp_system',
      default_tax_rate: { name: 'PPN', code: 'ppn', rate: 11 },
    },
  ]);
  const [location] = await run('createStockLocationsWorkflow', {
    locations: [{ name: 'Bakery', address: { city: 'Jakarta', country_code: 'ID', address_1: 'Jalan 1' } }],
  });
  await link.create({
    [Modules.STOCK_LOCATION]: { stock_location_id: location.id },
    [Modules.FULFILLMENT]: { fulfillment_provider_id: 'manual_manual' },
  });
  const profiles = await read('shipping_profile', ['id']);
  const [profile] =
    profiles.length > 0
      ? profiles
      : await run('createShippingProfilesWorkflow', { data: [{ name: 'Default', type: 'default' }] });
  const set = await container.resolve(Modules.FULFILLMENT).createFulfillmentSets({
    name: 'Delivery',
    type: 'shipping',
    service_zones: [{ name: 'Indonesia', geo_zones: [{ country_code: 'id', type: 'country' }] }],
  });
  await link.create({
    [Modules.STOCK_LOCATION]: { stock_location_id: location.id },
    [Modules.FULFILLMENT]: { fulfillment_set_id: set.id },
  });
  const [option] = await run('createShippingOptionsWorkflow', [
    {
      name: 'Standard',
      price_type: 'flat',
      provider_id: 'manual_manual',
      service_zone_id: set.service_zones[0].id,
      shipping_profile_id: profile.id,
      type: { label: 'Standard', description: 'By courier', code: 'standard' },
      prices: [{ currency_code: CURRENCY, amount: 10_000 }],
      rules: [
        { attribute: 'enabled_in_store', value: 'true', operator: 'eq' },
        { attribute: 'is_return', value: 'false', operator: 'eq' },
      ],
    },
  ]);
  await run('linkSalesChannelsToStockLocationWorkflow', { id: location.id, add: [channel.id] });
  const variants = [];
  for (let first = 1; first <= Number(process.env.PRODUCTS); first += PRODUCTS_PER_BATCH) {
    const products = Array.from({ length: PRODUCTS_PER_BATCH }, (_, index) =>
      buildProduct(first + index, profile, channel),
    );
    variants.push(
      ...(await run('createProductsWorkflow', { products })).map((product) => product.variants[0].id),
    );
  }
  const inventory = await read('inventory_item', ['id']);
  await run('createInventoryLevelsWorkflow', {
    inventory_levels: inventory.map(({ id }) => ({
      inventory_item_id: id,
      location_id: location.id,
      stocked_quantity: 1_000_000,
    })),
  });
  const shop = { key: key.token, region: region.id, option: option.id, variants };
  console.log(`SHOP ${JSON.stringify(shop)}`);
}

function buildProduct(number, profile, channel) {
  const price = { currency_code: CURRENCY, amount: (number % 500) * 1000 + 500 };
  return {
    title: `Kue lapis ${number}`,
    handle: `kue-lapis-${number}`,
    description: `Loaf number ${number}, baked in the morning from flour, butter and eggs.`,
    status: 'published',
    shipping_profile_id: profile.id,
    options: [{ title: 'Size', values: ['Whole'] }],
    variants: [{ title: 'Whole', sku: `KUE-${number}`, options: { Size: 'Whole' }, prices: [price] }],
    sales_channels: [{ id: channel.id }],
  };
}
