"""Names of services whose keys have no shape of their own: 32 hex digits, a UUID, 40 letters and digits.

Such a key is known by the name beside it: ``abuseipdb_key = …``, ``ABUSE-IPDB: …``. The names are lower-case and without separators:
compare them with a text's words once its case, ``_``, ``-``, ``.`` and blanks are folded away. These are what the services
call themselves.
"""

from __future__ import annotations

from tachograph.redact.words import table

#: Names that are no words of prose or code: a random value close to one is a secret.
SERVICE_NAMES = table(
    """
    abbysale abstractapi abuseipdb accuweather acledger actblue actionnetwork activecampaign acuityscheduling adafruit adafruitio adobe
    adroll adyen adzuna aeroworkflow affinda agilecrm ahrefs ai21 ai21labs airbrake airbyte aircall airflow airly airnow airship airtable
    airvisual aiven akamai akeneo akismet akkio alchemy alchemyapi alconost alephalpha aletheia aletheiaapi algolia alibaba alibabacloud
    alienvault aliyun allsports alltick alphavantage altcoinapi amadeus ambee amberdata amplitude amplitudeapi ankr antcolony
    anymailfinder anypoint anyscale apacta api2cart api2pdf apideck apiflash apifonica apifootball apify apilayer apimatic apimetrics
    apininjas apisports apitemplate apivoid aplaceforai apollographql apolloio appbase appbot appcenter appcues appdynamics appfigures
    appfollow appgyver appinsights applitools appointedd appoptics appsflyer appsignal appsmith appsynergy apptentive apptivo appveyor
    appwrite aquasec arangodb arcgis argilla argocd arize artifactory asaas asana ascora assemblyai astradb astronomer atera atlassian
    audd auddio aunalytics auphonic auth0 authentik authorizenet authress authy autodesk autoklose autopilothq avalara avatax avaza
    aviationstack avochato avtech axiomhq axonaut axonius aylien ayrshare azuredevops azuredevopspat azureopenai azuresearch
    backblaze backendless balenacloud bamboohr bandsintown bandwidthcom bannerbear baremetrics baseapiio basecamp baselime baseten
    basistheory beebole beehiiv bentoml besnappy besttime betaface betfair betterstack betteruptime bigcommerce bigdatacloud bigml
    bigpanda billbee billomat billplz binance bingmaps bingsubscription birdeye bitbar bitbay bitcoinaverage bitcoinaverageapi bitfinex
    bitflyer bitget bithumb bitly bitmex bitpanda bitpay bitquery bitrise bitsight bitso bitstamp bittrex bitvavo bitwarden blablabus
    blazemeter blitapp blockchair blockchyp blockcypher blockfrost blocknative blockspan bloomreach bluejeans bluesky bluesnap blynk bokun
    bombbomb bonusly bookingsync boostnote borgbase botify botpress boxoauth brainshop braintree braintreepayments branchio brandfetch
    braze breezyhr brevo brightcove brightdata broadcom browserbase browserless browserstack browshot bscscan buddyns budibase bugcrowd
    bugfender bugherd bugsee bugsnag bugsplat buildbuddy buildkite builtwith bulbul bulksms bunnycdn bunnynet buttercms bybit
    cachix caflou calcom caldotcom calendarific calendly calorieninja calorieninjas campaignmonitor campayn cannyio canva capsolver
    capsulecrm captaindata carboneio carboninterface cardconnect cartodb cashboard cashfree caspio catchpoint censys centralstationcrm
    cerebras cexio chainstack changenow chargebee chargeover chargify chartbeat chartmogul chatbotkit chatfuel chatfule chatwoot checio
    checkio checkly checklyhq checkmarx checkoutcom checkvist chorusai churnkey cilium circleci ciscomeraki ciscospark ciscoumbrella
    ciscowebex citrix citybikes civo clarifai clearbit clearout clevercloud clevertap clickatell clickhelp clickhouse clickhousecloud
    clickmeter clicksend clicksendsms clickup cliengo clinchpad cliniko clipdrop clockify clockworksms closecrm closeio cloudability
    cloudamqp cloudant cloudconvert cloudelements cloudera cloudflare cloudhealth cloudimage cloudinary cloudmersive cloudplan cloudsight
    cloudsmith cloudzero cloverapi cloverly cloze clustdoc coactive cobaltio cockroachcloud cockroachdb cockroachlabs codacy codeclimate
    codecov codefresh codegpt codemagic codeocean codequiry coderabbit codesandbox codesee cogmento cognitoforms cohere coinapi coinapiio
    coinbase coincap coindesk coinex coingecko coinlayer coinlib coinmarketcap coinpaprika coinpayments coinranking collect2 collibra
    cometml commercejs commercelayer commercetools commoditiesapi companieshouse companyhub composio confluent confluentcloud connectwise
    constantcontact contentful contenthub contentsquare contentstack context7 contrastsecurity conversiontools convertapi convertcom
    convertkit convier conviva copyleaks coralogix cortexdata corticon couchbase countly countrylayer countrystatecity covalenthq coveo
    coveralls coze craftmypdf crashlytics creatomate crewai cribl crispchat cronitor cronofy crossref crowdin crowdsec crowdstrike
    crunchbase cryptoapis cryptocompare cryptolens cryptopanic ctrader currencybeacon currencycloud currencyfreaks currencylayer
    currencyscoop currentsapi curseforge customerguru customerio cyberark cybersource cyfe
    d7network d7networks dacast dadata dailyco dailymotion dandelionapi dareboost dashlane databento databox databricks datacamp datadog
    datadome datafire dataforseo datagov datahub dataiku datarobot datasift datastax datawrapper datocms dbconn dbtcloud deapi debounce
    debounceio decodo deepai deepgram deepinfra deepl deepnote deepseek deepsource definednetworking delighted deliverect deliveroo demio
    denodeploy dependencytrack deputy deribit dessn detectify detectlanguage devcycle devrev devto dfuse dialogflow dialpad diffbot
    diggernaut digicert digikey digitalocean directus discogs disqus dittohq dixa dnscheck dnsimple dnsimpleapi dnsmadeeasy docparser
    docraptor documo docusaurus docusign docuware dolibarr doordash doppler dotdigital dotmailer dovico downdetector drata dreamhost
    dreamstudio dribbble driftcom dronahq droneci dronedeploy dropbox dropboxsign dsers duckdns duda duffel dummyapi duneanalytics
    duosecurity duply dustid dvla dwolla dynadot dynalist dynamsoft dynatrace dyndns dyspatch
    eagleeye eagleeyenetworks easyinsight easypost easyship ebay ebird ecobee economicdata econtact ecostruxureit ecwid edamam edenai
    edgecast edgio editorx educative eightxeight elasticcloud elasticemail elasticpath electricitymap electricitymaps elevenlabs eloqua
    emailable emailhippo emailjs emailoctopus emailoversight emarsys embedly emnify emsisoft enablex encharge endorlabs enigma enigmaio
    enormail ensembledata envato envoyapi eodhd eodhistoricaldata equinix equinixmetal ercot esendex espocrm etherpad etherscan ethplorer
    etsy eventbrite eventzilla everbridge everhour evernote eversign evervault everypixel everysport exchangerate exchangerateapi
    exchangeratesapi exchangerateshost exoscale expedia expensify exportsdk extractorapi ezoic
    fabricio faceapp facebook faceplusplus fakestore fastforex fastly fastmail fastspring fathomanalytics fatsecret fattureincloud faunadb
    featherless fedex feedbin feedier feedly feefo fetchrss fibery fieldwire figma filebase filemaker filestack filezilla finage
    financialmodelingprep fincity findl fingerprintjs finicity finmind finnhub fintoc firebase fireblocks firebolt firecrawl fireeye
    fireflies firehydrant firetext firstpromoter fitbit fivetran fixerio flagsmith flatfile flatio fleetbase fleetcomplete fleetio flexera
    flexmail flexport flightapi flightaware flightlabs flightstats floatapp flodesk flowdock flowflu flowise flowroute flutterflow
    flutterwave flyio fmfw fmpcloud fontawesome footballdata foreignexchange forestadmin formatio formbucket formcraft formio formsite
    formspree formstack fortanix fortinet fortnox fossa foursquare foxentry frameio freeagent freecurrencyapi freemius freepik freesound
    freshbooks freshcaller freshchat freshdesk freshping freshsales freshservice freshteam freshworks friendli friendliai frontapp
    frontegg frontify fugle fulcrum fullcontact fullstory funtranslations fusionauth fxmarket fxmarketapi
    gainsight gameanalytics gamejolt gandi gateio gcore geckoboard geekflare geetest geminiapi genderapi genesys gengo gentrace geoapi
    geoapify geocodefarm geocodexyz geocodify geocodio geoipifi geoipify geonames geotab getambassador getbee getdatabox getgeoapi getgist
    getimg getindiekit getprospect getresponse getsandbox getsentry getstream getswift gettyimages getwaitlist ghostcms ghostinspector
    giantbomb gigachat gitalk gitbook gitguardian gitkraken gitpod gitter givebutter glassfrog glassnode glitchtip globalping globalsign
    globus gloriafood gnews goaffpro gocanvas gocardless gocd godaddy gohighlevel goldapi goldrush gongio goodday goodreads googleads
    googlecloud googlegemini googlemaps googlepagespeed googlesheets gorgias goshippo gotify gotowebinar grafana grafanacloud grammarly
    grandstream graphcms graphcool graphhopper graphlit graylog greenhouseio greptile greynoise gridly gridpane groovehq groq growthbook
    growthzone grubhub gtmetrix guardianapi guesty guidepoint gumlet gumroad gupshup gurobi gyazo
    hackerearth hackernoon hackerone hackerrank haloitsm handwrytten hapikey happi happyfox happyscribe harnessio harvestapp hashicorp
    hashnode hasura haveibeenpwned hcaptcha hcloud healthchecks heapanalytics heapio helcim helicone heliconeai heliusapi heliusrpc
    hellosign helpcrunch helpdesk helpdocs helpscout helpshift hereapi heremaps heroku heropanel hetzner hetznercloud hevodata heygen
    heyreach hibob hiboutik highlevel highlightio highnote hightouch hiveage hivemq hiveos hoiio holidayapi homeassistant honeybadger
    honeycomb honeygain hootsuite hopsworks hostaway hostfully hostinger hotelbeds hotjar hotmart hrflow htmlcsstoimage hubbapi hubspot
    hubstaff huggingface humanapi humanity humanloop hunterhow hunterio huobi hybiscus hybridanalysis hygraph hyperbolic hyperbrowser
    hypercontext hypertrack hyperwallet hyros
    ibmcloud ibmiam ibmwatson icecat iconfinder iconscout icontact idenfy ideogram idtechex iexapis iexcloud iflytek igdb illumio imagekit
    imagekitio imagga imgbb imgix immuta imprezahost improvmx indiegogo inflectra influxdb infobip infogram infomaniak informatica
    infracost infura ingestly inkeep inngest inoreader inpost insightly insightvm instabot instabug instacart instagram instamojo instana
    instapaper instatus instructure intellihr intelx interactivebrokers intercom interseller intra42 intrinio intruder intruderio
    invidious invoiceninja invoiceocean ionic ionos ip2location ip2proxy ip2whois ipapi ipbase ipdata ipdatabase ipfind ipgeolocation
    ipgeolocationapi ipify ipinfo ipinfodb iplocate ipqs ipquality ipqualityscore ipregistry ipstack ipxapi ironio irradiant itunes
    iubenda izooto
    jamaicloud jambonz jamendo jamf janrain jdoodle jellyfin jetbrains jfrog jinaai jira jiratoken jobadder jobber jobvite jotform
    jsonbinio jumio jumpcloud jumpseller junipernetworks jupiterone juro justcall justworks jwplayer
    kagi kagisearch kairosapi kairosio kaleyra kaltura kameleoon kanbanflow kanbanize kanbantool karbon karmacrm kartra keap keboola
    keenio keycdn keymetrics keywordtool kickbox kickofflabs kimai kinsta kintone kissflow kissmetrics klarna klaviyo kleinanzeigen klenty
    kleverly klickly klickpages klingai klipfolio knack knapsackpro knockapp knowbe4 knowi kolide komodor komoot konghq konnect kontent
    kontentai korapay krakend krisinformation krisp kubecost kucoin kudosity kustomer kyckr kylas
    labelbox labelstudio lacework lakera lakeraai lambdalabs lambdatest lamini lancedb langchain langfuse langsmith languagelayer
    languagetool laravelforge laravelvapor larksuite lastpass latenode launchdarkly layerzero leadboxer leadconnector leadfeeder leadiq
    leadsquared leanix leankit learndash learnworlds lemlist lemonsqueezy lendflow leonardoai lepton leptonai lessannoyingcrm letterboxd
    levelio lexigram librato libratoapi librenms libreview lifx lighton lightstep ligolab limechat limesurvey linearb linenotify linkedin
    linkly linkpreview linksquares linktree linode liquibase liquidplanner listennotes listrak litellm litmos littlewarden liveagent
    livechat livechatinc livekit livestorm llamacloud llamaindex loadero loadimpact loadmill loadster lobapi localazy localise localytics
    locationiq lodgify logdna logentries loggly logicmonitor loginradius logrocket logsnag logtail logzio lokalise loopsso loqate lordicon
    loyaltylion loyverse lumahealth lumalabs lumigo lunarcrush lunary lunchmoney lunolabs lusha lyft
    macaddressio macstadium madkudu magicapi magicbell magnific mailbeez mailboxlayer mailboxvalidator mailcheck mailchimp mailerlite
    maileroo mailersend mailersendapi mailgun mailinator mailjet mailjetsms mailmodo mailosaur mailsac mailshake mailslurp mailtrap
    maintainx mambu manageengine mandrill manychat mapbox mapillary mapquest maptiler marketaux marketcheck marketo marketstack marvelapi
    matillion matomo matrixio mattermost matterport mavenlink maxio maxmind maxmindlicense meaningcloud mediastack medusajs meetup
    meilisearch meistertask meltwater membean memberful memberspace memberstack memcachier memgraph memsource mendeley mendix mentimeter
    meraki mercadolibre mercadopago mergify mesibo messagebird messari metaapi metabase metalpriceapi metalprices metalsapi metaplex
    metricstream metrilo mews microcms microlink microsoftgraph microstrategy midtrans milvus mimecast mindbody mindmeister mindsdb
    minimax mintlify mintsoft miro misterduty mitto mixmax mixpanel mobygames mockapi mockaroo modjo moesif mollie mondaycom moneybird
    mongodbatlas monkeylearn monnify moogsoft moonclerk moonpay moonshotai moosend moralis motherduck motionapp mouseflow movebank
    moveworks moxiesoft mrticktock msg91 msteams mtnmomo mulesoft multisafepay musixmatch mux mxtoolbox myfreshworks myfxbook myintervals
    myjson mymemory myob myparcel mysportsfeeds
    n8n nango nansen nasaapi nasdaqdatalink nationbuilder navisite ncbi nearmap neartail nebius neo4jaura neocities neondb neptuneai
    nessus nestio netatmo netcraft netcup nethunt netlify netscaler netskope netsuite networx neutrino neutrinoapi newrelic
    newrelicinsights newsapi newscatcher newscatcherapi newsdata newsdataio newsletter2go nexmo nexmoapi nexpose nextcloud nextdns
    nexthink nextiva nexudus nftport nftscan ngc ngrok nicehash nicereply nightfall ninjaone ninjarmm ninoxdb nitrokey nitropack nlpcloud
    nocodb nocrm nodebb noip nomicai nomics northflank northpass notionapi novita novu nowpayments nozbe nozbeteams nsone nuclino nuget
    numlookup numlookupapi numverify nutanix nutritionix nvidiangc nylas nymeria nytimes
    oanda obsidiansync ocrspace octoai octoeverywhere octoparse octopart octopusdeploy odoo offorte okcoin okex okta oktaapi okx olark
    omdb omdbapi omise omnisend omniture onebip onedesk onelogin onepagecrm onesignal onetrust onfido onfleet onpage onshape onwater
    onwaterio oopspam openaq opencage opencagedata opencart opencellid opencloud opencorporates opendatasoft openexchange
    openexchangerates openfda openfec openfigi openholidays openinvoice openlayer openmeteo openobserve openphone openpipe openproject
    openrouter openrouteservice opensanctions opensea openstates opensubtitles opentok openuv openvpn openweather openweathermap opinary
    opsgenie opslevel opsramp optimizely optimove optisigns orangehrm orcasecurity orderdesk oreilly oroinc osano oseberg ottertune
    outbrain outscraper outseta overloop ovhcloud owlbot owncloud oxylabs
    packagecloud packetfabric pactflow paddle pagarme pagerduty pagerdutyapi pagespeed pandadoc pandascore pangea pantheon panther
    papercups paperform paperlesspost paperspace papertrail paralleldots parsehub parsely parseur particleio partnerize partnerstack
    passbase passbolt passkit passslot pastebin patreon paychex paycor paydirt paydirtapp payhawk payhere payloadcms paymentwall paymo
    paymoapp paymongo payoneer paypal paypalbraintree paypay payplug paysafe paystack paystand paytm payu pcloud pdfco pdfcrowd
    pdfgenerator pdfgeneratorapi pdflayer pdfmonkey pdfshift peekalink pegelonline pendoio penpot peopledatalabs peoplehr pepipost percona
    perfectgym performyard permitio personio petfinder pexels phantombuster phaxio philipshue photoroom phrasecom phylum picatic pickaxe
    pika pimcore pinata pinboard pinecone pingdom pingidentity pipecat pipedream pipedrive pipefy piperun pitchbook pivotaltracker pixabay
    pixela placekit planetscale planhat planner5d planplus planview planviewleankit planway planyo platerecognizer platformsh playfab
    playht plesk plivo plotly plugnmeet pluralsight podchaser podio podscribe poeditor polarsh pollsapi poloniex polygonio polygonscan
    polymarket portainer portkey portkeyai positionstack postageapp postbacks postcodesio postgrid posthog postman postmark postmarkapp
    postmates postmen postnl powerautomate powerbi powrbot predicthq predictionguard premiumize prerender pretix pricehubble printful
    printify printnode prisma prismacloud prismaio prismic privacycom procore prodigi prodpad productboard productfruits programmableweb
    projectplace promptfoo promptlayer propelauth propertyradar prospectcrm prosperworks protocolsio proxycrawl proxycurl proxyscrape
    ptvgroup publer pubmed pubnub pulsedive pulumi puppetforge puresource purestake purgomalum pushbullet pushcut pushengage pusher
    pusherchannel pushover pushpad pushwoosh pythonanywhere
    qase qdrant qencode qlik qlikcloud qnamaker qonto qrcodemonkey quaderno qualaroo qualtrics qualys quandl quay qubole quickbase
    quickbooks quickchart quicknode quiknode quivr quoine quotaguard
    rabbitmq rackspace railwayapp rainforest rainforestapi rainloop raken randomuser rapid7 rapidapi rapyd rawg raygun razorpay reachmail
    readability readmeio readwise realestateapi reallysimplesystems realtymole reapit rebilly rebrandly recaptcha rechargeapps
    rechargepayments recombee recruitee recurly redash redgifs redislabs redmine redoc redsys reducto reelgood refersion refiner regfox
    rei3 reka rekaai reloadly rememberthemilk remoteok removebg rentcast rentman repairshopr replyio reportportal requestbin
    requestfinance reseller resellerclub resemble resend restdb restpack restpackhtmltopdf restpackscreenshot retellai revai revampcrm
    revenuecat reversecontact reviewsio revolut rewardful rhombus rightscale ringcentral ringover ripplecrm riskified riskiq ritekit
    roaring robinhood roblox rocketchat rocketlane rocketreach rockset rokt rollbar roninapp rosette route4me routemobile rownd rspace
    rudderstack runcloud runpod runrunit runscope runwayml
    saferpay safetyculture sageone sailpoint saladcloud salesblink salescookie salesflare salesforce salesloft salesmate salesmsg samcart
    samsara samsungknox sanityio sarvam satismeter saucelabs savvycal scalegrid scaleway scalingo scalr scanova schoology scitepress
    scorebat scrapecreators scrapeops scrapeowl scraperapi scraperbox scrapersite scrapestack scrapfly scrapingant scrapingbee scrapingdog
    scrapingfish scrapinghub screenly screenshotapi screenshotlayer screenshotmachine screenshotone scrutinizer scrutinizerci scryfall
    sdxl seamapi searchapi searchbug searchmetrics searchspring seatable seatgeek sectigo securecodewarrior securelink securitycenter
    securityscorecard securitytrails segmentapi segmind selectpdf selz semanticscholar semaphoreci semaphoresms semgrep semrush sendbird
    sendcloud sendfox sendgrid sendinblue sendlane sendle sendloop sendowl sendpro sendpulse sendwithus senseforce sensibo sensorpush
    sensortower sentinelhub sentinelone sentione sentryio seqera serpapi serper serperdev serphouse serply serpstack serpwow servicebus
    servicem8 servicenow servicetitan sessionm setmore settlemint sevdesk sezzle sftpcloud shaketube sharefile sharpspring sheetdb
    sheetlabs sheety sherpadesk shipbob shipbook shipcloud shipday shipengine shippo shiprocket shipstation shodan shopee shopify shopware
    shortcm shortio shotgrid shotstack shutterstock sidekiq siftscience sightengine signable signalfx signalwire signaturit signnow
    signrequest signupgenius signwell sigopt silabs siliconflow simfin similarweb simkl simplecast simplelogin simplesat simplynoted
    simplyrets simpro simvoly sinch sinchmessage singlestore sirv siteground siteimprove sitejabber siteleaf skrapp skrappio skybiometry
    skyscanner slack slackwebhook slido smartcar smartling smartproxy smartrecruiters smartsheet smartsheets smartsuite smartthings smarty
    smartystreets smooch smsapi smsgatewayme smsglobal smsmode smtp2go smtpcom snaplogic snappay snipcart snov snovio snowflake snyk
    soapbox socialbee socialdata socketdev softlayer solarwinds solcast soldo solscan sonarcloud sonarqube sonatype soniox sophos sorare
    soundcloud sourcegraph sovendus spacelift sparkpost speechly speechmatics speechtextai spendesk spiceai spiketime spinwheel splitio
    splitwise splunk splunkobservability spoonacular sportmonks sportradar sportsdata sportsdataio sportsmonk spotify spotinst spotio
    spreedly springcm sprinklr sproutsocial sproutvideo spryker spscommerce squadcast squarespace squareup ssllabs sslmate sslstore
    stabilityai stackblitz stackhawk stackpath stackrox stampli stannp starling starrez statamic statflo statsig statuscake statusgator
    statuspage statuspageio statuspal steamapi steamgriddb steampowered stellate stitchdata stockdata stockdataorg stocktwits storecove
    storj stormboard stormglass storyblok storychief strapi strava streak streamelements streamio streamlabs stripe stripo strongdm stytch
    subsplash substack sucuri sugarcrm sugester sumologic sumsub sunshineconversations supabase superfeedr superhog supermetrics
    supernotes supertokens supportbee surveyanyplace surveybot surveygizmo surveymonkey surveysparrow survicate svix swagger swaggerhub
    swapcard swiftype swipely symantec synack syncfusion synctera synthesia sysdig systemio
    tabnine taboola tailscale tailwindui talentlms talkdesk tallyfy tanium tapfiliate targetprocess tatum tatumio tavily tavus tawkto
    taxamo taxcloud taxjar teachable teamgate teamleader teamtailor teamup teamviewer teamwork teamworkcrm teamworkdesk teamworkspaces
    technicalanalysis technicalanalysisapi tecton teespring tefter telegram telegrambot telerik telesign teletype telnyx telstra tempoio
    tencent tencentcloud tenderly tensordock teradata termii testcafe testingbot testlodge testmail testmailapp testmo testrail testsigma
    text2data textanywhere textlocal textmagic textrazor thalesgroup thanksio thecatapi thedogapi themoviedb theoddsapi thesportsdb
    thetvdb thingiverse thingsboard thingspeak thinkific thinkst thirdweb thoughtspot thousandeyes threatconnect threatstack ticketmaster
    ticketsource tickettailor tickspot tiingo timecamp timescaledb timetastic timezoneapi timezonedb tincan tines tinify tinybird tinymce
    tinypng tinyurl tipalti tmdb tmetric todoist toggl toggltrack tokeet tomba tomorrowio tomtom tookan toornament totango touchbistro
    trackjs tractable tradegecko tradestation tradier tradingeconomics transactpay transferwise transifex translink transloadit
    travelpayouts travelperk travisci trello tremendous trengo triggerdev trimble trinsic tripadvisor tripit tripletex truelayer truenas
    truepill trulia trustradius trustwave trypico tumblr turbify turbot turbotax turnitin turntio turso tutanota tvmaze twelvedata
    twelvelabs twilio twitch twitter twocaptcha txtag tyntec typeform typefully typesense typetalk typo3
    ubidots ubuntuone uclassify udemy uipath ultradns ultravox umami umbraco unbounce unbounceapi unelmamail unicreditapi unifi unifyid
    unplugg unsplash unsplashapi unstructuredio upbank upcdatabase upcitemdb upcloud updown updownio uplead uploadcare uploadio upollo
    uppromote upsellit upstash upstox uptimecom uptimekuma uptimerobot upvoty upwave upwork urbanairship urlbox urlmeta urlscan urlscanio
    usabilla usaspending userflow userguiding userpilot userstack uservoice usgs usps
    vagaro vagrantcloud valdi valtown vanta vapi varonis vatapi vatcheckapi vatlayer vatsense vatstack vbout vectara vectorshift veeam
    veeqo vellum venafi vendasta veracode verafin vercel verdaccio verifalia veriff verifone verimail veriphone versioneye vesselfinder
    vestaboard vexere viber videoask videosdk viewneo vimeo virgilsecurity virtru virustotal visaapi viscircle visualcrossing visualping
    vitally vivocha vkontakte vmray vmware voiceflow voicegain voiceit voicemonkey voipms volcengine vonage voodoosms voucherify vouchery
    voximplant voyageai vplan vpnapi vtex vtiger vuforia vulcain vulncheck vulners vultr vwo vyond vyte
    waboxapp wachete wakatime walkscore wallarm walletconnect wandb wappalyzer warpstream wasabi wasabisys wassenger wati waveapps waylay
    wazuh weatherapi weatherbit weatherflow weatherlink weatherstack weatherunderground weaviate web3storage webcargo webexbot webflow
    webhookrelay webhooksite webinarjam webmasterapi weboxapp webpurify webscraper webscraping webscrapingapi websitepulse weebly weglot
    wepay wercker whatcms whatsmyip whereby whoapi whoisfreaks whoisxml whoisxmlapi whop whoxy wigle wildapricot wistia witai withings
    wizio wiziq wolframalpha woocommerce woodpeckerco wootric wordnik wordpressapi wordsapi workato workday workfront workiva workos
    worksnaps workstack worldcoinindex worldpay worldtides worldtradingdata worldweatheronline wpengine wrike writesonic wso2 wufoo
    wundergraph
    xata xendit xero xignite xmatters xneelo xrapidapi
    yahoofinance yandex yandexcloud yelp yepcode yesware ynab yotpo youcanbookme youdata youneedabudget younium yousign youtrack ytel
    yubico yuque
    zadarma zamzar zapier zapierwebhook zapsign zencoder zendesk zendesksell zendrive zenefits zengin zenhub zenkit zenmaid zenrows
    zenscrape zensend zenserp zenvia zephyrscale zeplin zeptomail zerion zerobounce zerossl zerotier zhipu zhipuai zigpoll zilliz zillow
    zingle zipapi zipbooks zipcodeapi zipcodebase zipcodestack zippopotam ziprecruiter zixflow zoho zohocrm zoneedit zonkafeedback zonos
    zoominfo zoomus zoopla zscaler zulip zulipchat zuora zuplo zyte
    """
)

#: Names that are also ordinary words, or that stand beside public ids and hashes (forges, registries, clouds): these need ``key``,
#: ``token``, ``secret`` or the like beside them.
AMBIGUOUS_NAMES = table(
    """
    ably abstract adjust admob affinity agora aha air alegra alerta alloy anaconda anchor ant anthropic anvil apex apollo appcircle
    appetize apple arc ark artsy astra atlas attio authorize autopilot aws axiom axle azure
    backlog balena bamboo banana bandwidth base baseapi basis beacon beam beamer bee bench bento better bill billing bing bird bit
    bitbucket bitbucketserver blackbaud blade block blogger blueprint bolt boost box brain branch brave breeze breezy bridge bright bubble
    bubbleio bucket buddy buffer bulb bullet bunny buoy buzz
    cal canny canvas capsule carbon carbonblack carbone cashier caspian castle center chain chainlink chamber chameleon chargebacks chat
    chatbot chatgpt chatter check checkout chromatic cicero circle citrus clarity clear clever click clockwork close cloud cloudfront
    clover clubhouse cluster coast cobalt cockpit coda code codeship coherence cohort collect comet commerce commodities compass conductor
    contact contrast convert convoy copper coral cordial core cortex cosmic couch couchdb courier coursera cove crate creative crisp cron
    crypto cube curator currencyapi currents customer cypress
    daily dandelion darksky dart dash deal deck deliver deno deploy depot descript desk desmos dev devin digger digital disco discord
    discourse ditto doc dock docker dockerhub docs dolby domain domo doubleclick dove dovetail drift drip drone drupal duo dust dyn
    eagle echo edge elastic elasticsearch embed ember emma encyclopedia enterprise envoy eraser eventful everlaw evident exa exchange
    exotel expo
    fabric facts falcon fathom fauna feather fetch fiber fireworks first fivestars fixer flagship flame flare flash flat fleet flex flickr
    flipkart float flow fluent flux folk forge formal forms fort fortify forward frame freedom fresh friend front ftp fuel funda fusion
    gather gem gemini geocode getaddress getemail getemails ghost giphy gist gitea gitee github gitlab glean glide gmail go gold gong good
    google googleai googleapi gradientai grain graph gravity green greenhouse grid groove ground grow guardian guru
    hack happy harbor harness harvest heap hedera helix helm help here hero highlight hive holistic home honey hook hookdeck hosting hotel
    house howdy html2pdf htmltopdf hub hugging human hunter hype
    iconic ideal ikea imagine imgur impact impala imperva indeed indigo infinity info insight insights instantly invision invoice ion iron
    ironclad island iterable
    jam jasper jenkins jet joy jsonbin jsonstorage judge juice juicebox jump jungle juniper justice
    kairos kanban kanboard karma kayak keen keep keepa keeper keycloak keygen keyvalue khanacademy kickserv kimi kin kinde kit kite kling
    knock koala kong kraken
    lane lantern lark lastfm lattice launch launchpad layer lead leap lens lever lexis light lightning lightspeed lilt lime line linear
    link liquid lithium litmus live llama load lob looker loom loop loopreturns loops lotus lucid luna luno lynx
    macaddress magento magic magnet magnetic mailbox manifest map maps marker market marvel mason mastodon matrix max mediawiki meet
    mention mercury merge mesh metafield meter metricbeat mezmo mini mint mirage mistral mite mix mobile modal mode modelbit modelscope
    moderationapi modern moment monday monitor mono monster moodle moon moonshot morningstar mosaic mother motion mouser move music
    nagios navan navigator near nest net neutral news nexus nice night nimble nitro nomad north notice noticeable notify notion nova
    nozzle npmjs numbeo nutshell
    ocean octane octopus odds olive ollama onion open openbanking opensearch openshift openstack optimize opus oracle oracledb orbit
    orchid origin otter outlook outreach overflow oxygen
    packagist packet pager pageseeder pan panda paper parallel parsers particle partner pass passage pay payload peer pendo percy perigon
    persona phase phone phonenumber phrase piano pilot pin ping pinnacle pinterest pipe pipeline pivot pixel plaid plan planet planner
    plasma play pleo plot plug plunk pocket podium poly polygon portal poster power prefect preset press prestashop presto print prism
    privacy privacyidea privy productive profit proof prop prospect proxy pulsar pulse pump pure push puzzle pypi
    qualified quantum quartz quick quill quip quotable quote
    rail railway rain rainbow ramp range rapid raven ray reach react reader readme readthedocs ready real recharge recruit recurrent
    reddit redis reef refer reflect regal relay remote render rent repl replay replicate reply report resolve retool review rewind ring
    ripe ripple river roar robot rocket root rootly rose rossum route rover ruby rumble runway
    safe sage sail salt sanity sap scene school scout screen scribd seal search seat secure seed segment semaphore send sense sensor
    sentinel sentry serial shape share sharepoint sheet shield ship shop shortcut shot sift sigma signal silo simple simplybook site
    sitebulb sketch skill sky skyvern slate slice smart smash snap snapchat snow social solace solar solid sonar sonic sound sourceforge
    space spark speakeasy spectrum speed spike spin spiral split spot spring sprint spruce square stack stackexchange stackoverflow stage
    star stat staticforms stats steady steam stella step stock storm story strange stream street streetview strong studio style sugar
    suite summit sun superhuman superset supply surf surge survey swan sweet swell swift switch symbl symfony synthetic
    tableau taiga tailor tally tango tap tax team teamcity tech tele tempo temporal tenable tender tensor terra thanks thinking thread
    thrive ticket tide tiger tiktok tile timely timestream toggle tool top topaz torch total touch tower town trade traffic trail
    transcribe transit travel traversals travis tray trigger trinity trip tron tru trustpilot truth tune turbo turn twin twist
    ultra umbrella unify union uniswap unity unleash unstructured upper urban userback userlist userreport
    val valet vapor vault vector vehicle vend venture verge verify vertex vertica vessel vest vibe video vine violet vision vista visual
    vital volt vote voyage
    walk wall war water wave wealth weather web webex weights whatsapp wikimedia windmill windy wire wise wit wix wolfram wonder
    woodpecker wordpress work workable workflow world
    xing
    yahoo yard yield yoga your youtube
    zabbix zap zen zip zipcode zipline zone zoom
    """
)
