// A model as the service describes it in JSON, with what the page has to know of one.

export const csdl = {
  $Version: '4.01',
  $EntityContainer: 'eider.Default',
  eider: {
    core_orders: {
      $Kind: 'EntityType',
      $Key: ['order_id'],
      order_id: { $Type: 'Edm.Int32' },
      customer_id: { $Type: 'Edm.Int32', $Nullable: true },
      total: {
        $Type: 'Edm.Decimal',
        $Nullable: true,
        $Precision: 12,
        $Scale: 2,
        '@Org.OData.Core.V1.Description': 'With tax',
      },
      address: { $Type: 'eider.core_orders_address', $Nullable: true },
      tags: { $Collection: true, $Nullable: true },
      customer: {
        $Kind: 'NavigationProperty',
        $Type: 'eider.core_customers',
        $Nullable: true,
        $Partner: 'orders',
        $ReferentialConstraint: { customer_id: 'customer_id' },
      },
      '@Org.OData.Core.V1.Description': 'Orders',
    },
    core_orders_address: { $Kind: 'ComplexType', city: { $Nullable: true } },
    core_customers: {
      $Kind: 'EntityType',
      $Key: ['customer_id'],
      customer_id: { $Type: 'Edm.Int32' },
      name: { $Nullable: true },
      orders: {
        $Kind: 'NavigationProperty',
        $Type: 'eider.core_orders',
        $Collection: true,
        $Partner: 'customer',
      },
    },
    pairs: { $Kind: 'EntityType', $Key: ['a', 'b'], a: { $Type: 'Edm.Int64' }, b: {} },
    Default: {
      $Kind: 'EntityContainer',
      core_orders: {
        $Collection: true,
        $Type: 'eider.core_orders',
        $NavigationPropertyBinding: { customer: 'core_customers' },
        '@Org.OData.Aggregation.V1.CustomAggregate#revenue': 'Edm.Decimal',
        '@Org.OData.Aggregation.V1.CustomAggregate#revenue@Org.OData.Core.V1.Description':
          'What was paid',
        '@Org.OData.Aggregation.V1.CustomAggregate#revenue@com.sap.vocabularies.Common.v1.Label':
          'Revenue',
        '@Org.OData.Aggregation.V1.CustomAggregate#revenue@Org.OData.Measures.V1.ISOCurrency':
          'EUR',
        '@Org.OData.Aggregation.V1.CustomAggregate#buyers': 'Edm.Int64',
      },
      core_customers: {
        $Collection: true,
        $Type: 'eider.core_customers',
        $NavigationPropertyBinding: { orders: 'core_orders' },
      },
      pairs: { $Collection: true, $Type: 'eider.pairs' },
      '@Org.OData.Capabilities.V1.SupportedFormats': [
        'application/json',
        'application/vnd.apache.parquet',
      ],
    },
  },
}
