package duckdb

// tpcdsTables describes the 24 tables of TPC-DS, one column a line: its name, the kind of its values, and what the kind needs. The lists of
// words have the values that the questions look for, so that small tables have rows for them. "basket" columns are equal in all rows of an
// order. tpcdsValues makes the values.
var tpcdsTables = []tpcdsTable{
	{name: "date_dim", rows: 2557, columns: `d_date_sk calendar|d_date_id id 1|d_date calendar|d_month_seq calendar|d_week_seq calendar|d_quarter_seq calendar|d_year calendar
d_dow calendar|d_moy calendar|d_dom calendar|d_qoy calendar|d_fy_year calendar|d_fy_quarter_seq calendar|d_fy_week_seq calendar|d_day_name calendar|d_quarter_name calendar
d_holiday words N,N,N,Y|d_weekend words N,N,Y|d_following_holiday words N,N,N,Y|d_first_dom calendar|d_last_dom calendar|d_same_day_ly calendar|d_same_day_lq calendar
d_current_day words N|d_current_week words N|d_current_month words N|d_current_quarter words N|d_current_year words N`},
	{name: "time_dim", rows: 1440, columns: `t_time_sk step 0 60|t_time_id id 1|t_time step 0 60|t_hour cycle 60 24 0|t_minute cycle 1 60 0|t_second cycle 1 1 0
t_am_pm each 720 AM,PM|t_shift each 480 third,first,second|t_sub_shift each 360 night,morning,afternoon,evening
t_meal_time each 120 null,null,null,breakfast,breakfast,lunch,lunch,null,null,dinner,dinner,null`},
	{name: "income_band", rows: 20, columns: `ib_income_band_sk step 1 1|ib_lower_bound step 1 10000|ib_upper_bound step 10000 10000`},
	{name: "household_demographics", rows: 720, columns: `hd_demo_sk step 1 1|hd_income_band_sk cycle 1 20 1
hd_buy_potential words >10000,Unknown,1001-5000,0-500,501-1000,5001-10000|hd_dep_count int 0 9 0|hd_vehicle_count int -1 4 0`},
	{name: "customer_demographics", rows: 700, columns: `cd_demo_sk step 1 1|cd_gender each 1 M,F|cd_marital_status each 2 M,S,D,W,U
cd_education_status each 10 College,Advanced Degree,2 yr Degree,4 yr Degree,Unknown,Primary,Secondary|cd_purchase_estimate cycle 70 20 1
cd_credit_rating words Good,Low Risk,High Risk,Unknown|cd_dep_count int 0 6 3|cd_dep_employed_count int 0 6 3|cd_dep_college_count int 0 6 0`},
	{name: "customer_address", rows: 800, columns: `ca_address_sk step 1 1|ca_address_id id 1|ca_street_number text 99 2|ca_street_name words Main,Oak,Park,2nd,Lake|ca_street_type words St,Ave,Blvd
ca_suite_number text 40 2|ca_city words Fairview,Midway,Edgewood,Oak Grove,Pleasant Hill
ca_county words Williamson County,Williamson County,Rush County,Toole County,Jefferson County,Dona Ana County,La Porte County,Orange County
ca_state words TN,TN,GA,GA,TX,OH,OR,NM,KY,VA,MS,CA,IL,IL,IN,CO,WI,LA,null|ca_zip words 24128,24128,76232,65084,85669,86197,88274,83405,86475,85392,81792
ca_country words United States|ca_gmt_offset words -5.00,-5.00,-6.00,-7.00,-7.00|ca_location_type words condo,apartment,single family,null`},
	{name: "customer", rows: 1000, columns: `c_customer_sk step 1 1|c_customer_id id 1|c_current_cdemo_sk ref customer_demographics 3|c_current_hdemo_sk ref household_demographics 3
c_current_addr_sk ref customer_address 0|c_first_shipto_date_sk day 1998 2001 4|c_first_sales_date_sk day 1998 2001 4|c_salutation words Mr.,Mrs.,Dr.,Ms.,null
c_first_name words Ann,Bo,Carl,Dora,Emil,Fay,Gus,null|c_last_name words Adams,Baker,Clark,Diaz,Evans,Ford,Gray,null|c_preferred_cust_flag words Y,N,null
c_birth_day int 1 28 3|c_birth_month int 1 12 3|c_birth_year int 1930 1990 3|c_birth_country words CANADA,UNITED STATES,PERU,null|c_login words null
c_email_address text 999 3|c_last_review_date_sk day 1998 2002 4`},
	{name: "item", rows: 240, columns: `i_item_sk step 1 1|i_item_id id 2|i_rec_start_date words null|i_rec_end_date words null|i_item_desc text 400 2|i_current_price words 0.99,1.20,1.49,9.90,40.00,64.50,67.00,68.00,70.00,72.00,75.00,80.00,95.00,null
i_wholesale_cost cents 50 8000 2|i_brand_id int 1 9 2
i_brand words scholaramalgamalg #14,scholaramalgamalg #7,exportiunivamalg #9,amalgimporto #1,edu packscholar #1,importoamalg #1,null|i_class_id int 1 9 2
i_class words personal,portable,accessories,classical,fragrances,pants,maternity,computers,stereo,football,shirts,dresses|i_category_id int 1 9 2
i_category words Women,Women,Men,Men,Books,Home,Sports,Electronics,Jewelry,Music,Children,null|i_manufact_id words 128,128,977,977,677,940,694,738,744,760,778,129,270,821,350,350
i_manufact words able,ought,bar,cally,eing,n st|i_size words medium,extra large,small,petite,large,N/A|i_formulation text 50 2
i_color words peach,slate,purple,burlywood,spring,floral,powder,khaki,brown,light,midnight,snow,orange,forest,blanched,medium,null|i_units words Ounce,Oz,Bunch,Ton,Box,Pound,Each,Lb,N/A
i_container words Unknown,null|i_manager_id words 1,1,8,8,28,28,40,55|i_product_name text 600 2`},
	{name: "store", rows: 12, columns: `s_store_sk step 1 1|s_store_id id 2|s_rec_start_date words null|s_rec_end_date words null|s_closed_date_sk day 2000 2001 70
s_store_name each 1 ese,ese,ought,able,bar,ation|s_number_employees int 200 300 0|s_floor_space int 5000 9000 2|s_hours words 8AM-4PM,8AM-12AM|s_manager words Scott Smith,Ann Lee
s_market_id words 8,8,5,2|s_geography_class words Unknown|s_market_desc text 20 0|s_market_manager words Dean Ray,May Fox|s_division_id cycle 1 1 1|s_division_name words Unknown
s_company_id cycle 1 1 1|s_company_name words Unknown|s_street_number text 99 2|s_street_name words Main,Oak|s_street_type words St,Ave|s_suite_number text 40 2
s_city words Fairview,Midway|s_county words Williamson County,Williamson County,Orange County|s_state words TN,TN,GA|s_zip words 24128,76232,85669,86197
s_country words United States|s_gmt_offset words -5.00|s_tax_percentage words 0.01,0.05,null`},
	{name: "call_center", rows: 6, columns: `cc_call_center_sk step 1 1|cc_call_center_id id 2|cc_rec_start_date words null|cc_rec_end_date words null|cc_closed_date_sk day 2000 2001 90|cc_open_date_sk day 1998 1999 0
cc_name words NY Metro,Mid Atlantic|cc_class words large,small|cc_employees int 100 500 0|cc_sq_ft int 1000 9000 0|cc_hours words 8AM-4PM|cc_manager words Bob Belcher,Felipe Perkins
cc_mkt_id int 1 6 0|cc_mkt_class text 9 0|cc_mkt_desc text 9 0|cc_market_manager words Julius Durham|cc_division int 1 3 0|cc_division_name words pri,able
cc_company int 1 3 0|cc_company_name words pri,able|cc_street_number text 99 2|cc_street_name words Main|cc_street_type words St|cc_suite_number text 9 0
cc_city words Midway,Fairview|cc_county words Williamson County|cc_state words TN|cc_zip words 31904|cc_country words United States|cc_gmt_offset words -5.00|cc_tax_percentage words 0.11,0.12`},
	{name: "catalog_page", rows: 200, columns: `cp_catalog_page_sk step 1 1|cp_catalog_page_id id 1|cp_start_date_sk day 1998 1999 1|cp_end_date_sk day 1999 2000 1|cp_department words DEPARTMENT
cp_catalog_number int 1 9 1|cp_catalog_page_number int 1 99 1|cp_description text 99 1|cp_type words bi-annual,quarterly,monthly`},
	{name: "web_site", rows: 8, columns: `web_site_sk step 1 1|web_site_id id 2|web_rec_start_date words null|web_rec_end_date words null|web_name words site_0,site_1|web_open_date_sk day 1998 1999 0
web_close_date_sk day 1999 2000 50|web_class words Unknown|web_manager words Ronald Shaffer|web_mkt_id int 1 6 0|web_mkt_class text 9 0|web_mkt_desc text 9 0|web_market_manager text 9 0
web_company_id int 1 6 0|web_company_name words pri,pri,able|web_street_number text 99 2|web_street_name words Main|web_street_type words St|web_suite_number text 9 0|web_city words Midway
web_county words Williamson County|web_state words TN|web_zip words 31904|web_country words United States|web_gmt_offset words -5.00|web_tax_percentage words 0.11,0.00`},
	{name: "web_page", rows: 20, columns: `wp_web_page_sk step 1 1|wp_web_page_id id 2|wp_rec_start_date words null|wp_rec_end_date words null|wp_creation_date_sk day 1998 1999 1|wp_access_date_sk day 1999 2000 1
wp_autogen_flag words Y,N|wp_customer_sk ref customer 70|wp_url words http://www.foo.com|wp_type words ad,feedback,order,null|wp_char_count int 4900 5300 1|wp_link_count int 2 25 1
wp_image_count int 1 7 1|wp_max_ad_count int 0 4 1`},
	{name: "warehouse", rows: 5, columns: `w_warehouse_sk step 1 1|w_warehouse_id id 1|w_warehouse_name words Important issues,Doors canno,Conventional childr,null|w_warehouse_sq_ft int 50000 900000 0|w_street_number text 99 2
w_street_name words Main|w_street_type words St|w_suite_number text 9 0|w_city words Midway,Fairview|w_county words Williamson County|w_state words TN,GA|w_zip words 31904
w_country words United States|w_gmt_offset words -5.00`},
	{name: "ship_mode", rows: 20, columns: `sm_ship_mode_sk step 1 1|sm_ship_mode_id id 1|sm_type each 1 EXPRESS,NEXT DAY,OVERNIGHT,REGULAR,LIBRARY|sm_code each 1 AIR,SURFACE,SEA
sm_carrier each 1 DHL,BARIAN,UPS,FEDEX|sm_contract text 99 0`},
	{name: "reason", rows: 35, columns: `r_reason_sk step 1 1|r_reason_id id 1|r_reason_desc each 1 reason 28,Did not like the color,Stopped working,Gift exchange,Not the product that was ordered`},
	{name: "promotion", rows: 40, columns: `p_promo_sk step 1 1|p_promo_id id 1|p_start_date_sk day 1998 2001 2|p_end_date_sk day 1999 2002 2|p_item_sk ref item 2|p_cost words 1000.00,null|p_response_target cycle 1 1 1
p_promo_name words able,ought,bar|p_channel_dmail words Y,N|p_channel_email words N,N,Y,null|p_channel_catalog words N|p_channel_tv words N,N,Y,null|p_channel_radio words N
p_channel_press words N|p_channel_event words N,Y,null|p_channel_demo words N|p_channel_details text 99 0|p_purpose words Unknown|p_discount_active words N,null`},
	{name: "inventory", rows: 30000, columns: `inv_date_sk week 2000 2001|inv_item_sk ref item 0|inv_warehouse_sk ref warehouse 0|inv_quantity_on_hand skewed 0 1000 5`},
	{name: "store_sales", rows: 24000, basket: 18, columns: `ss_sold_date_sk basket day 1998 2002 4|ss_sold_time_sk basket time 3|ss_item_sk ref item 0|ss_customer_sk basket ref customer 4
ss_cdemo_sk basket ref customer_demographics 4|ss_hdemo_sk basket ref household_demographics 4|ss_addr_sk basket ref customer_address 4|ss_store_sk basket ref store 4|ss_promo_sk ref promotion 4
ss_ticket_number basket order|ss_quantity int 1 100 4|ss_wholesale_cost cents 100 10000 4|ss_list_price cents 100 20000 4|ss_sales_price cents 0 20000 4|ss_ext_discount_amt cents 0 200000 60
ss_ext_sales_price product ss_quantity ss_sales_price|ss_ext_wholesale_cost product ss_quantity ss_wholesale_cost|ss_ext_list_price product ss_quantity ss_list_price|ss_ext_tax cents 0 90000 4
ss_coupon_amt cents 0 1500000 50|ss_net_paid product ss_quantity ss_sales_price|ss_net_paid_inc_tax product ss_quantity ss_list_price|ss_net_profit cents -50000 400000 4`},
	{name: "store_returns", rows: 2600, related: "store_sales", share: 100, columns: `sr_returned_date_sk after ss_sold_date_sk 1 150 3|sr_return_time_sk time 3|sr_item_sk copy ss_item_sk|sr_customer_sk copy ss_customer_sk
sr_cdemo_sk copy ss_cdemo_sk|sr_hdemo_sk copy ss_hdemo_sk|sr_addr_sk copy ss_addr_sk|sr_store_sk copy ss_store_sk|sr_reason_sk ref reason 4|sr_ticket_number copy ss_ticket_number
sr_return_quantity int 1 100 4|sr_return_amt cents 0 1800000 4|sr_return_tax cents 0 9000 4|sr_return_amt_inc_tax cents 0 1800000 4|sr_fee cents 50 10000 4|sr_return_ship_cost cents 0 90000 4
sr_refunded_cash cents 0 90000 4|sr_reversed_charge cents 0 90000 4|sr_store_credit cents 0 90000 4|sr_net_loss cents 50 90000 4`},
	{name: "catalog_sales", rows: 14000, basket: 6, related: "store_returns", share: 30, columns: `cs_sold_date_sk basket day 1998 2002 4|cs_sold_time_sk basket time 3|cs_ship_date_sk after cs_sold_date_sk 2 130 3
cs_bill_customer_sk copy sr_customer_sk ref customer 4|cs_bill_cdemo_sk basket ref customer_demographics 4|cs_bill_hdemo_sk basket ref household_demographics 4|cs_bill_addr_sk basket ref customer_address 4
cs_ship_customer_sk basket ref customer 4|cs_ship_cdemo_sk basket ref customer_demographics 4|cs_ship_hdemo_sk basket ref household_demographics 4|cs_ship_addr_sk basket ref customer_address 4
cs_call_center_sk basket ref call_center 4|cs_catalog_page_sk ref catalog_page 4|cs_ship_mode_sk ref ship_mode 4|cs_warehouse_sk ref warehouse 4|cs_item_sk copy sr_item_sk ref item 0
cs_promo_sk ref promotion 4|cs_order_number basket order|cs_quantity int 1 100 4|cs_wholesale_cost cents 100 10000 4|cs_list_price cents 100 30000 4|cs_sales_price cents 0 60000 4
cs_ext_discount_amt cents 0 900000 4|cs_ext_sales_price product cs_quantity cs_sales_price|cs_ext_wholesale_cost product cs_quantity cs_wholesale_cost|cs_ext_list_price product cs_quantity cs_list_price
cs_ext_tax cents 0 90000 4|cs_coupon_amt cents 0 900000 50|cs_ext_ship_cost cents 0 900000 4|cs_net_paid product cs_quantity cs_sales_price|cs_net_paid_inc_tax cents 0 900000 4
cs_net_paid_inc_ship cents 0 900000 4|cs_net_paid_inc_ship_tax cents 0 900000 4|cs_net_profit cents -90000 900000 4`},
	{name: "catalog_returns", rows: 1500, related: "catalog_sales", share: 100, columns: `cr_returned_date_sk after cs_sold_date_sk 1 150 3|cr_returned_time_sk time 3|cr_item_sk copy cs_item_sk|cr_refunded_customer_sk copy cs_bill_customer_sk
cr_refunded_cdemo_sk copy cs_bill_cdemo_sk|cr_refunded_hdemo_sk copy cs_bill_hdemo_sk|cr_refunded_addr_sk copy cs_bill_addr_sk|cr_returning_customer_sk ref customer 4
cr_returning_cdemo_sk ref customer_demographics 4|cr_returning_hdemo_sk ref household_demographics 4|cr_returning_addr_sk ref customer_address 4|cr_call_center_sk copy cs_call_center_sk
cr_catalog_page_sk copy cs_catalog_page_sk|cr_ship_mode_sk copy cs_ship_mode_sk|cr_warehouse_sk copy cs_warehouse_sk|cr_reason_sk ref reason 4|cr_order_number copy cs_order_number
cr_return_quantity int 1 100 4|cr_return_amount cents 0 1800000 4|cr_return_tax cents 0 9000 4|cr_return_amt_inc_tax cents 0 1800000 4|cr_fee cents 50 10000 4|cr_return_ship_cost cents 0 90000 4
cr_refunded_cash cents 0 90000 4|cr_reversed_charge cents 0 90000 4|cr_store_credit cents 0 90000 4|cr_net_loss cents 50 90000 4`},
	{name: "web_sales", rows: 9000, basket: 6, related: "catalog_sales", share: 30, columns: `ws_sold_date_sk basket day 1998 2002 4|ws_sold_time_sk basket time 3|ws_ship_date_sk after ws_sold_date_sk 2 130 3|ws_item_sk copy cs_item_sk ref item 0
ws_bill_customer_sk basket ref customer 4|ws_bill_cdemo_sk basket ref customer_demographics 4|ws_bill_hdemo_sk basket ref household_demographics 4|ws_bill_addr_sk basket ref customer_address 4
ws_ship_customer_sk basket ref customer 4|ws_ship_cdemo_sk basket ref customer_demographics 4|ws_ship_hdemo_sk basket ref household_demographics 4|ws_ship_addr_sk basket ref customer_address 4
ws_web_page_sk ref web_page 4|ws_web_site_sk basket ref web_site 4|ws_ship_mode_sk ref ship_mode 4|ws_warehouse_sk ref warehouse 4|ws_promo_sk ref promotion 4|ws_order_number basket order
ws_quantity int 1 100 4|ws_wholesale_cost cents 100 10000 4|ws_list_price cents 100 30000 4|ws_sales_price cents 0 20000 4|ws_ext_discount_amt cents 0 900000 4
ws_ext_sales_price product ws_quantity ws_sales_price|ws_ext_wholesale_cost product ws_quantity ws_wholesale_cost|ws_ext_list_price product ws_quantity ws_list_price|ws_ext_tax cents 0 90000 4
ws_coupon_amt cents 0 900000 50|ws_ext_ship_cost cents 0 900000 4|ws_net_paid product ws_quantity ws_sales_price|ws_net_paid_inc_tax cents 0 900000 4|ws_net_paid_inc_ship cents 0 900000 4
ws_net_paid_inc_ship_tax cents 0 900000 4|ws_net_profit cents 0 60000 4`},
	{name: "web_returns", rows: 1400, related: "web_sales", share: 100, columns: `wr_returned_date_sk after ws_sold_date_sk 1 150 3|wr_returned_time_sk time 3|wr_item_sk copy ws_item_sk|wr_refunded_customer_sk copy ws_bill_customer_sk
wr_refunded_cdemo_sk copy ws_bill_cdemo_sk|wr_refunded_hdemo_sk copy ws_bill_hdemo_sk|wr_refunded_addr_sk copy ws_bill_addr_sk|wr_returning_customer_sk ref customer 4
wr_returning_cdemo_sk copy ws_bill_cdemo_sk|wr_returning_hdemo_sk ref household_demographics 4|wr_returning_addr_sk ref customer_address 4|wr_web_page_sk copy ws_web_page_sk
wr_reason_sk ref reason 4|wr_order_number copy ws_order_number|wr_return_quantity int 1 100 4|wr_return_amt cents 0 1800000 4|wr_return_tax cents 0 9000 4|wr_return_amt_inc_tax cents 0 1800000 4
wr_fee cents 50 10000 4|wr_return_ship_cost cents 0 90000 4|wr_refunded_cash cents 0 90000 4|wr_reversed_charge cents 0 90000 4|wr_account_credit cents 0 90000 4|wr_net_loss cents 50 90000 4`},
}
